#include "http2/session.hpp"

#include <array>
#include <exception>
#include <new>
#include <nghttp2/nghttp2.h>
#include <vector>

namespace weir::http2 {
namespace {

/// A list of fields that is decoded far beyond what is kept ends the connection: the client makes
/// the server work without a purpose (RFC 9113 section 10.5.1).
constexpr std::size_t most_decoded_heads = 4;

/// Updates of windows that a client may send beyond one for each `bytes_per_update` it receives.
constexpr std::uint64_t free_window_updates = 256;
constexpr std::uint64_t bytes_per_update = 512;

/// PING frames without a glitch in the bytes of one receive(): keepalives come one by one.
constexpr std::size_t free_pings = 4;

/// SETTINGS that a client may send without a glitch; most send one.
constexpr std::uint64_t free_settings = 4;

/// Upstreams may send heads of 64 KiB, to which Weir adds its own fields.
constexpr std::size_t most_response_head = 128 * 1024;

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

nghttp2_nv pair_of(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
  };
  return {.name = bytes(name),
          .value = bytes(value),
          .namelen = name.size(),
          .valuelen = value.size(),
          .flags = NGHTTP2_NV_FLAG_NONE};
}

/// The name and value pairs of a head or a trailer section. They view `fields`, which nghttp2
/// copies.
std::vector<nghttp2_nv> pairs_of(const http::FieldSection& fields, std::string_view status = {}) {
  std::vector<nghttp2_nv> pairs;
  pairs.reserve(fields.size() + 1);
  if (!status.empty()) pairs.push_back(pair_of(":status", status));
  for (const http::Field field : fields)
    pairs.push_back(pair_of(field.name, field.value));
  return pairs;
}

/// The digits of a status; 100 to 999.
std::array<char, 3> digits_of(int status) {
  return {static_cast<char>('0' + status / 100), static_cast<char>('0' + status / 10 % 10),
          static_cast<char>('0' + status % 10)};
}

struct FreeOption {
  void operator()(nghttp2_option* option) const { nghttp2_option_del(option); }
};
struct FreeCallbacks {
  void operator()(nghttp2_session_callbacks* callbacks) const {
    nghttp2_session_callbacks_del(callbacks);
  }
};

/// The options of all sessions.
const nghttp2_option* session_option() {
  static const std::unique_ptr<nghttp2_option, FreeOption> option = [] {
    nghttp2_option* made = nullptr;
    if (nghttp2_option_new(&made) != 0) throw std::bad_alloc();
    std::unique_ptr<nghttp2_option, FreeOption> owned(made);
    nghttp2_option_set_no_auto_window_update(made, 1);
    nghttp2_option_set_max_send_header_block_length(made, most_response_head);
    return owned;
  }();
  return option.get();
}

/// True for a reset with which the library answers a fault of the client. Weir sends others.
bool answers_fault(std::uint32_t error_code) {
  switch (error_code) {
    case NGHTTP2_PROTOCOL_ERROR:
    case NGHTTP2_FLOW_CONTROL_ERROR:
    case NGHTTP2_STREAM_CLOSED:
    case NGHTTP2_FRAME_SIZE_ERROR:
    case NGHTTP2_REFUSED_STREAM:
      return true;
    default:
      return false;
  }
}

}  // namespace

/// The functions that nghttp2 calls. `user` is the session. Exceptions must not pass through a
/// library in C: they end the session.
struct Session::Callbacks {
  static Session& session(void* user) { return *static_cast<Session*>(user); }
  static Stream* stream(nghttp2_session* native, std::int32_t id) {
    return static_cast<Stream*>(nghttp2_session_get_stream_user_data(native, id));
  }

  template <class Function>
  static int guarded(Function function) {
    try {
      return function();
    } catch (const std::exception&) {
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
  }

  static int on_begin_frame(nghttp2_session* /*native*/, const nghttp2_frame_hd* head, void* user) {
    Session& self = session(user);
    if (head->type != NGHTTP2_HEADERS) return 0;
    return guarded([&] {
      if (self.ids_.was_skipped(head->stream_id)) self.terminate(ErrorCode::protocol_error);
      self.ids_.note(head->stream_id);
      return 0;
    });
  }

  static int on_begin_headers(nghttp2_session* native, const nghttp2_frame* frame, void* user) {
    Session& self = session(user);
    self.trailers_size_ = 0;
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    return guarded([&] {
      const std::int32_t id = frame->hd.stream_id;
      Stream* const opened = self.takes_streams_ ? self.source_.open_stream() : nullptr;
      if (opened == nullptr) {
        nghttp2_submit_rst_stream(native, NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
        return int{NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE};
      }
      opened->clear();
      opened->id_ = id;
      opened->head_.begin(self.options_.max_head);
      nghttp2_session_set_stream_user_data(native, id, opened);
      ++self.open_streams_;
      ++self.open_heads_;
      return 0;
    });
  }

  static int on_header(nghttp2_session* native, const nghttp2_frame* frame,
                       const std::uint8_t* name, std::size_t name_size, const std::uint8_t* value,
                       std::size_t value_size, std::uint8_t /*flags*/, void* user) {
    Stream* const found = stream(native, frame->hd.stream_id);
    if (found == nullptr) return 0;
    return guarded([&] {
      session(user).take_field(*found, text_of(name, name_size), text_of(value, value_size));
      return 0;
    });
  }

  /// Not the silent loss of the field, which is nghttp2's default: the request is malformed (RFC
  /// 9113 section 8.2.1).
  static int on_invalid_header(nghttp2_session* /*native*/, const nghttp2_frame* /*frame*/,
                               const std::uint8_t* /*name*/, std::size_t /*name_size*/,
                               const std::uint8_t* /*value*/, std::size_t /*value_size*/,
                               std::uint8_t /*flags*/, void* /*user*/) {
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }

  static void take_frame(Session& self, const nghttp2_frame& frame, Stream* stream) {
    const bool ends = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    switch (frame.hd.type) {
      case NGHTTP2_HEADERS:
        if (stream == nullptr) return;
        if (!stream->has_head_) {
          --self.open_heads_;
          stream->has_head_ = true;
          stream->has_ended_ = ends;
          if (stream->head_.is_too_large()) self.note_glitch();
          return stream->on_request();
        }
        break;
      case NGHTTP2_DATA:
        if (frame.hd.length == frame.data.padlen && !ends) self.note_glitch();
        break;
      case NGHTTP2_WINDOW_UPDATE:
        if (++self.window_updates_ > free_window_updates + self.sent_ / bytes_per_update)
          self.note_glitch();
        return;
      case NGHTTP2_SETTINGS:
        if ((frame.hd.flags & NGHTTP2_FLAG_ACK) == 0 && ++self.settings_ > free_settings)
          self.note_glitch();
        return;
      case NGHTTP2_PING:
        if ((frame.hd.flags & NGHTTP2_FLAG_ACK) == 0 && ++self.pings_ > free_pings)
          self.note_glitch();
        return;
      case NGHTTP2_PRIORITY:
      case NGHTTP2_RST_STREAM:
        return self.note_glitch();
      default:
        return;
    }
    if (stream == nullptr || !ends || stream->has_ended_) return;
    stream->has_ended_ = true;
    stream->on_end();
  }

  static int on_frame_received(nghttp2_session* native, const nghttp2_frame* frame, void* user) {
    return guarded([&] {
      take_frame(session(user), *frame, stream(native, frame->hd.stream_id));
      return 0;
    });
  }

  static int on_data(nghttp2_session* native, std::uint8_t /*flags*/, std::int32_t id,
                     const std::uint8_t* bytes, std::size_t size, void* /*user*/) {
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

  static int on_closed(nghttp2_session* native, std::int32_t id, std::uint32_t error_code,
                       void* user) {
    Stream* const found = stream(native, id);
    if (found == nullptr) return 0;
    return guarded([&] {
      session(user).close(*found, error_code == NGHTTP2_NO_ERROR);
      return 0;
    });
  }

  static int on_frame_sent(nghttp2_session* native, const nghttp2_frame* frame, void* user) {
    Session& self = session(user);
    if (frame->hd.type == NGHTTP2_RST_STREAM && answers_fault(frame->rst_stream.error_code))
      self.note_glitch();
    const bool may_end = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    if (!may_end || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    // The rest of the request is not wanted (RFC 9113 section 8.1).
    const Stream* const found = stream(native, frame->hd.stream_id);
    if (found != nullptr && !found->has_ended_) {
      nghttp2_submit_rst_stream(native, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
    }
    return 0;
  }

  static int on_frame_not_sent(nghttp2_session* native, const nghttp2_frame* frame,
                               int /*library_error*/, void* /*user*/) {
    // A head that is too large for the client would never end the stream.
    if (frame->hd.type == NGHTTP2_HEADERS && stream(native, frame->hd.stream_id) != nullptr) {
      nghttp2_submit_rst_stream(native, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                NGHTTP2_INTERNAL_ERROR);
    }
    return 0;
  }

  static ssize_t read_output(nghttp2_session* native, std::int32_t id, std::uint8_t* to,
                             std::size_t most, std::uint32_t* flags,
                             nghttp2_data_source* /*source*/, void* user) {
    Stream* const found = stream(native, id);
    if (found == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    try {
      return session(user).read_body(*found, reinterpret_cast<char*>(to), most, *flags);
    } catch (const std::exception&) {
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
  }

  static const nghttp2_session_callbacks* all() {
    static const std::unique_ptr<nghttp2_session_callbacks, FreeCallbacks> callbacks = [] {
      nghttp2_session_callbacks* made = nullptr;
      if (nghttp2_session_callbacks_new(&made) != 0) throw std::bad_alloc();
      std::unique_ptr<nghttp2_session_callbacks, FreeCallbacks> owned(made);
      nghttp2_session_callbacks_set_on_begin_frame_callback(made, on_begin_frame);
      nghttp2_session_callbacks_set_on_begin_headers_callback(made, on_begin_headers);
      nghttp2_session_callbacks_set_on_header_callback(made, on_header);
      nghttp2_session_callbacks_set_on_invalid_header_callback(made, on_invalid_header);
      nghttp2_session_callbacks_set_on_frame_recv_callback(made, on_frame_received);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, on_data);
      nghttp2_session_callbacks_set_on_stream_close_callback(made, on_closed);
      nghttp2_session_callbacks_set_on_frame_send_callback(made, on_frame_sent);
      nghttp2_session_callbacks_set_on_frame_not_send_callback(made, on_frame_not_sent);
      return owned;
    }();
    return callbacks.get();
  }
};

void Session::Free::operator()(nghttp2_session* session) const {
  nghttp2_session_del(session);
}

Session::Session(StreamSource& source, const SessionOptions& options)
    : source_(source), options_(options), glitches_(options.glitches) {
  nghttp2_session* made = nullptr;
  if (nghttp2_session_server_new2(&made, Callbacks::all(), this, session_option()) != 0)
    throw std::bad_alloc();
  native_.reset(made);
  const std::array<nghttp2_settings_entry, 3> settings{{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, static_cast<std::uint32_t>(options.max_streams)},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<std::uint32_t>(options.stream_window)},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(options.max_head)},
  }};
  const bool is_set =
      nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, settings.data(), settings.size()) == 0 &&
      nghttp2_session_set_local_window_size(made, NGHTTP2_FLAG_NONE, 0,
                                            options.connection_window) == 0;
  if (!is_set) throw std::bad_alloc();
}

Session::~Session() = default;

bool Session::receive(std::string_view bytes) {
  pings_ = 0;
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const ssize_t taken = nghttp2_session_mem_recv(native_.get(), begin, bytes.size());
  // nghttp2 answers other faults itself, with a GOAWAY.
  if (taken < 0) terminate(ErrorCode::protocol_error);
  return taken >= 0;
}

bool Session::append_output(std::string& out, std::size_t most) {
  while (out.size() < most) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(native_.get(), &bytes);
    if (size < 0) return false;
    if (size == 0) return true;
    out.append(text_of(bytes, static_cast<std::size_t>(size)));
  }
  return true;
}

bool Session::has_output() const {
  return nghttp2_session_want_write(native_.get()) != 0;
}

bool Session::is_over() const {
  return nghttp2_session_want_read(native_.get()) == 0 && !has_output();
}

void Session::take_field(Stream& stream, std::string_view name, std::string_view value) {
  if (!stream.has_head_) {
    stream.head_.add(name, value);
    if (stream.head_.size() > most_decoded_heads * options_.max_head)
      terminate(ErrorCode::enhance_your_calm);
    return;
  }
  trailers_size_ += name.size() + value.size() + http::field_overhead;
  if (trailers_size_ <= options_.max_head) {
    stream.trailers_.add(name, value);
  } else if (trailers_size_ > most_decoded_heads * options_.max_head) {
    terminate(ErrorCode::enhance_your_calm);
  }
}

ssize_t Session::read_body(Stream& stream, char* to, std::size_t most, std::uint32_t& flags) {
  const std::size_t size = stream.read_output(to, most);
  sent_ += size;
  if (!stream.output_has_ended())
    return size == 0 ? ssize_t{NGHTTP2_ERR_DEFERRED} : static_cast<ssize_t>(size);
  flags |= NGHTTP2_DATA_FLAG_EOF;
  if (const http::FieldSection& trailers = stream.output_trailers(); !trailers.empty()) {
    flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    const auto pairs = pairs_of(trailers);
    if (nghttp2_submit_trailer(native_.get(), stream.id_, pairs.data(), pairs.size()) != 0)
      return NGHTTP2_ERR_CALLBACK_FAILURE;
  }
  return static_cast<ssize_t>(size);
}

void Session::close(Stream& stream, bool in_order) {
  nghttp2_session_set_stream_user_data(native_.get(), stream.id_, nullptr);
  if (stream.unconsumed_ > 0) {
    nghttp2_session_consume_connection(native_.get(), stream.unconsumed_);
    stream.unconsumed_ = 0;
  }
  if (!stream.has_head_) --open_heads_;
  --open_streams_;
  if (in_order && stream.has_responded_) glitches_.forgive();
  stream.is_closed_ = true;
  stream.on_closed();
}

/// Only a lack of memory can fail here. The response does not come, so the stream is reset, or the
/// connection ends with the next call of the library.
void Session::respond(Stream& stream, int status, const http::FieldSection& fields, bool has_body) {
  if (stream.is_closed_) return;
  const auto digits = digits_of(status);
  const auto pairs = pairs_of(fields, {digits.data(), digits.size()});
  nghttp2_data_provider body{.source = {.ptr = nullptr}, .read_callback = Callbacks::read_output};
  stream.has_responded_ = true;
  if (nghttp2_submit_response(native_.get(), stream.id_, pairs.data(), pairs.size(),
                              has_body ? &body : nullptr) != 0)
    reset(stream, ErrorCode::internal_error);
}

void Session::inform(Stream& stream, int status, const http::FieldSection& fields) {
  if (stream.is_closed_) return;
  const auto digits = digits_of(status);
  const auto pairs = pairs_of(fields, {digits.data(), digits.size()});
  nghttp2_submit_headers(native_.get(), NGHTTP2_FLAG_NONE, stream.id_, nullptr, pairs.data(),
                         pairs.size(), nullptr);
}

void Session::resume(Stream& stream) {
  if (!stream.is_closed_) nghttp2_session_resume_data(native_.get(), stream.id_);
}

void Session::reset(Stream& stream, ErrorCode code) {
  if (!stream.is_closed_) {
    nghttp2_submit_rst_stream(native_.get(), NGHTTP2_FLAG_NONE, stream.id_,
                              static_cast<std::uint32_t>(code));
  }
}

void Session::consume(Stream& stream, std::size_t bytes) {
  if (stream.is_closed_ || bytes == 0) return;
  stream.unconsumed_ -= bytes;
  nghttp2_session_consume(native_.get(), stream.id_, bytes);
}

void Session::begin_drain() {
  nghttp2_submit_shutdown_notice(native_.get());
}

void Session::end_drain() {
  takes_streams_ = false;
  nghttp2_submit_goaway(native_.get(), NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(native_.get()), NGHTTP2_NO_ERROR,
                        nullptr, 0);
}

void Session::terminate(ErrorCode code) {
  nghttp2_session_terminate_session(native_.get(), static_cast<std::uint32_t>(code));
}

void Session::note_glitch() {
  const auto before = glitches_.state();
  glitches_.note();
  const auto now = glitches_.state();
  if (now == before) return;
  now == Glitches::State::spent ? terminate(ErrorCode::enhance_your_calm) : end_drain();
}

}  // namespace weir::http2
