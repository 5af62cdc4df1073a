#include "http2/session_core.hpp"

#include <cstdint>
#include <cstring>
#include <limits>

#include "http/header_list.hpp"
#include "http/request_view.hpp"
#include "http2/block_pool.hpp"
#include "http2/native.hpp"

namespace weir::http2 {
namespace {

/// A list of fields that is decoded far beyond what is kept ends the connection: the other side
/// makes this one work without a purpose (RFC 9113 section 10.5.1).
constexpr std::size_t most_decoded_heads = 4;

constexpr std::uint64_t no_bound = std::numeric_limits<std::uint64_t>::max();

/// Upstreams may send heads of 64 KiB, to which Weir adds its own fields.
constexpr std::size_t most_sent_head = 128 * 1024;

}  // namespace

const nghttp2_option* session_option() {
  static const std::unique_ptr<nghttp2_option, FreeOption> option = [] {
    nghttp2_option* made = nullptr;
    if (nghttp2_option_new(&made) != 0) throw std::bad_alloc();
    std::unique_ptr<nghttp2_option, FreeOption> owned(made);
    nghttp2_option_set_no_auto_window_update(made, 1);
    for (int type = first_unknown_type; type <= 0xff; ++type)
      nghttp2_option_set_user_recv_extension_type(made, static_cast<std::uint8_t>(type));
    nghttp2_option_set_max_send_header_block_length(made, most_sent_head);
    // Resets are counted by Session, which forgives them.
    nghttp2_option_set_stream_reset_rate_limit(made, no_bound, no_bound);
    return owned;
  }();
  return option.get();
}

nghttp2_nv pair_of(const http::Field& field) {
  nghttp2_nv pair = pair_of(field.name, field.value);
  if (field.is_never_indexed) pair.flags = NGHTTP2_NV_FLAG_NO_INDEX;
  return pair;
}

std::vector<nghttp2_nv>& spare_pairs() {
  thread_local std::vector<nghttp2_nv> pairs;
  pairs.clear();
  return pairs;
}

nghttp2_mem* session_memory() {
  static nghttp2_mem memory{
      .mem_user_data = nullptr,
      .malloc = [](std::size_t size, void*) { return BlockPool::mine().allocate(size); },
      .free = [](void* block, void*) { BlockPool::mine().release(block); },
      .calloc =
          [](std::size_t count, std::size_t size, void*) {
            void* const block = BlockPool::mine().allocate(count * size);
            return block == nullptr ? nullptr : std::memset(block, 0, count * size);
          },
      .realloc = [](void* block, std::size_t size,
                    void*) { return BlockPool::mine().resize(block, size); }};
  return &memory;
}

void SessionCore::Free::operator()(nghttp2_session* session) const {
  nghttp2_session_del(session);
}

SessionCore::~SessionCore() = default;

int SessionCore::SharedCallbacks::on_header(nghttp2_session* native, const nghttp2_frame* frame,
                                            const std::uint8_t* name, std::size_t name_size,
                                            const std::uint8_t* value, std::size_t value_size,
                                            std::uint8_t flags, void* user) {
  Stream* const found = stream(native, frame->hd.stream_id);
  if (found == nullptr) return 0;
  return guarded([&] {
    static_cast<SessionCore*>(user)->take_field(*found, text_of(name, name_size),
                                                text_of(value, value_size),
                                                (flags & NGHTTP2_NV_FLAG_NO_INDEX) != 0);
    return 0;
  });
}

/// The message is malformed (RFC 9113 section 8.2.1). By default nghttp2 drops the field.
int SessionCore::SharedCallbacks::on_invalid_header(
    nghttp2_session* /*native*/, const nghttp2_frame* /*frame*/, const std::uint8_t* /*name*/,
    std::size_t /*name_size*/, const std::uint8_t* /*value*/, std::size_t /*value_size*/,
    std::uint8_t /*flags*/, void* /*user*/) {
  return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

int SessionCore::SharedCallbacks::on_data(nghttp2_session* native, std::uint8_t /*flags*/,
                                          std::int32_t id, const std::uint8_t* bytes,
                                          std::size_t size, void* /*user*/) {
  Stream* const found = stream(native, id);
  if (found == nullptr) {
    nghttp2_session_consume_connection(native, size);
    return 0;
  }
  return guarded([&] {
    found->unconsumed_ += size;
    found->on_data(text_of(bytes, size));
    return 0;
  });
}

ssize_t SessionCore::SharedCallbacks::read_output(nghttp2_session* native, std::int32_t id,
                                                  std::uint8_t* to, std::size_t most,
                                                  std::uint32_t* flags,
                                                  nghttp2_data_source* /*source*/, void* user) {
  Stream* const found = stream(native, id);
  if (found == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  try {
    return static_cast<SessionCore*>(user)->read_body(*found, reinterpret_cast<char*>(to), most,
                                                      *flags);
  } catch (const std::exception&) {
    return NGHTTP2_ERR_CALLBACK_FAILURE;
  }
}

Callbacks SessionCore::SharedCallbacks::make() {
  nghttp2_session_callbacks* made = nullptr;
  if (nghttp2_session_callbacks_new(&made) != 0) throw std::bad_alloc();
  Callbacks owned(made);
  nghttp2_session_callbacks_set_on_header_callback(made, on_header);
  nghttp2_session_callbacks_set_on_invalid_header_callback(made, on_invalid_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, on_data);
  return owned;
}

bool SessionCore::receive_bytes(std::string_view bytes) {
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const ssize_t taken = nghttp2_session_mem_recv(native(), begin, bytes.size());
  // nghttp2 answers other faults itself, with a GOAWAY.
  if (taken < 0) terminate(ErrorCode::protocol_error);
  taken_ = taken < 0 ? bytes.size() : static_cast<std::size_t>(taken);
  return taken >= 0;
}

bool SessionCore::append_output(std::string& out, std::size_t most) {
  while (out.size() < most) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(native(), &bytes);
    if (size < 0) return false;
    if (size == 0) return true;
    out.append(text_of(bytes, static_cast<std::size_t>(size)));
  }
  return true;
}

bool SessionCore::has_output() const {
  return nghttp2_session_want_write(native()) != 0;
}

bool SessionCore::wants_input() const {
  return nghttp2_session_want_read(native()) != 0;
}

bool SessionCore::is_over() const {
  return !wants_input() && !has_output();
}

void SessionCore::attach(Stream& stream, std::int32_t id) {
  stream.clear();
  stream.id_ = id;
  ++open_streams_;
}

void SessionCore::begin_fields(Stream& stream) {
  trailers_size_ = 0;
  if (!stream.has_head_) stream.head_.begin(max_head_);
}

void SessionCore::take_field(Stream& stream, std::string_view name, std::string_view value,
                             bool is_never_indexed) {
  if (!stream.has_head_) {
    stream.head_.add(name, value, is_never_indexed);
    if (stream.head_.size() > most_decoded_heads * max_head_)
      terminate(ErrorCode::enhance_your_calm);
    return;
  }
  trailers_size_ += name.size() + value.size() + http::field_overhead;
  if (trailers_size_ <= max_head_) {
    stream.trailers_.add({.is_never_indexed = is_never_indexed, .name = name, .value = value});
  } else if (trailers_size_ > most_decoded_heads * max_head_) {
    terminate(ErrorCode::enhance_your_calm);
  }
}

ssize_t SessionCore::read_body(Stream& stream, char* to, std::size_t most, std::uint32_t& flags) {
  const std::size_t size = stream.read_output(to, most);
  sent_ += size;
  if (size > 0 && size < most) ++uncut_frames_;
  if (!stream.output_has_ended())
    return size == 0 ? ssize_t{NGHTTP2_ERR_DEFERRED} : static_cast<ssize_t>(size);
  flags |= NGHTTP2_DATA_FLAG_EOF;
  if (const http::FieldSection& trailers = stream.output_trailers(); !trailers.empty()) {
    flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    std::vector<nghttp2_nv>& pairs = spare_pairs();
    for (const http::Field field : trailers)
      pairs.push_back(pair_of(field));
    if (nghttp2_submit_trailer(native(), stream.id_, pairs.data(), pairs.size()) != 0)
      return NGHTTP2_ERR_CALLBACK_FAILURE;
  }
  return static_cast<ssize_t>(size);
}

void SessionCore::detach(Stream& stream, std::uint32_t error_code) {
  nghttp2_session_set_stream_user_data(native(), stream.id_, nullptr);
  leave(stream);
  stream.closed_with_ = error_code;
  stream.on_closed();
}

void SessionCore::leave(Stream& stream) {
  if (stream.unconsumed_ > 0) nghttp2_session_consume_connection(native(), stream.unconsumed_);
  stream.unconsumed_ = 0;
  --open_streams_;
  stream.is_closed_ = true;
}

void SessionCore::resume(Stream& stream) {
  if (!stream.is_closed_) nghttp2_session_resume_data(native(), stream.id_);
}

void SessionCore::reset(Stream& stream, ErrorCode code) {
  if (!stream.is_closed_) {
    nghttp2_submit_rst_stream(native(), NGHTTP2_FLAG_NONE, stream.id_,
                              static_cast<std::uint32_t>(code));
  }
}

void SessionCore::consume(Stream& stream, std::size_t bytes) {
  if (stream.is_closed_ || bytes == 0) return;
  stream.unconsumed_ -= bytes;
  nghttp2_session_consume(native(), stream.id_, bytes);
}

void SessionCore::terminate(ErrorCode code) {
  nghttp2_session_terminate_session(native(), static_cast<std::uint32_t>(code));
}

}  // namespace weir::http2
