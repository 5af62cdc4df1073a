#include "http2/session.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <nghttp2/nghttp2.h>
#include <span>
#include <utility>
#include <vector>

#include "http/header_list.hpp"
#include "http2/native.hpp"

namespace weir::http2 {
namespace {

/// Updates of windows that a client may send beyond one for each `bytes_per_update` it receives and
/// those for each DATA frame that its windows have not cut: some clients update the stream and the
/// connection after each.
constexpr std::uint64_t free_window_updates = 256;
constexpr std::uint64_t bytes_per_update = 512;
constexpr std::uint64_t updates_per_data_frame = 2;

/// PING frames without a glitch in the bytes of one receive(): keepalives come one by one.
constexpr std::size_t free_pings = 4;

/// SETTINGS that a client may send without a glitch; most send one. The same for GOAWAY; a client
/// that ends gracefully sends two.
constexpr std::uint64_t free_settings = 4;
constexpr std::uint64_t free_goaways = 4;

/// Frames of unknown types that are ignored (RFC 9113 section 5.5) without a glitch, and those for
/// each stream that is opened. Browsers send reserved types and PRIORITY_UPDATE (RFC 9218).
constexpr std::uint64_t free_unknown_frames = 64;
constexpr std::uint64_t unknown_frames_per_stream = 4;

/// DATA of closed streams, which nghttp2 ignores without a callback. Up to a window of it may have
/// been on its way for each body, when its stream was closed (RFC 9113 section 5.1). The bytes
/// beyond that, with those of the heads of frames, for each of which there is a glitch.
constexpr std::uint64_t free_ignored_bytes = 64 * 1024;
constexpr std::uint64_t bytes_per_ignored_glitch = 64;

/// Faults in one call of receive() after which it stops, although the client has made few before.
constexpr std::size_t faults_at_once = 16;

/// Streams beyond the number allowed that are refused in a turn. One more ends the connection.
constexpr std::uint32_t most_refused_streams = 16;
constexpr std::size_t frame_head_size = 9;

/// The name and value pairs of a head. They view `fields`, which nghttp2 copies.
const std::vector<nghttp2_nv>& pairs_of(const http::FieldSection& fields, std::string_view status) {
  std::vector<nghttp2_nv>& pairs = spare_pairs();
  pairs.push_back(pair_of(":status", status));
  for (const http::Field field : fields)
    pairs.push_back(pair_of(field));
  return pairs;
}

/// The digits of a status; 100 to 999.
std::array<char, 3> digits_of(int status) {
  return {static_cast<char>('0' + status / 100), static_cast<char>('0' + status / 10 % 10),
          static_cast<char>('0' + status % 10)};
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

struct Session::ServerCallbacks : SharedCallbacks {
  static Session& session(void* user) { return *static_cast<Session*>(user); }

  /// Sees also the frames that nghttp2 ignores, except DATA of closed streams.
  static int on_begin_frame(nghttp2_session* native, const nghttp2_frame_hd* head, void* user) {
    Session& self = session(user);
    self.frame_bytes_ += frame_head_size + head->length;
    return guarded([&] {
      if (head->type == NGHTTP2_HEADERS) {
        self.begin_head(head->stream_id, stream(native, head->stream_id) != nullptr,
                        (head->flags & NGHTTP2_FLAG_END_STREAM) == 0);
      } else if (head->type == NGHTTP2_WINDOW_UPDATE) {
        if (++self.window_updates_ > self.most_window_updates()) self.note_glitch();
      } else if (head->type >= first_unknown_type) {
        if (++self.unknown_frames_ > free_unknown_frames + unknown_frames_per_stream * self.opened_)
          self.note_glitch();
      }
      return 0;
    });
  }

  /// nghttp2 reports frames of unknown types to on_begin_frame() only if this callback is set.
  static int ignore_unknown(nghttp2_session* /*native*/, void** /*payload*/,
                            const nghttp2_frame_hd* /*head*/, void* /*user*/) {
    return NGHTTP2_ERR_CANCEL;
  }

  static int on_begin_headers(nghttp2_session* native, const nghttp2_frame* frame, void* user) {
    Session& self = session(user);
    if (Stream* const found = stream(native, frame->hd.stream_id)) self.begin_fields(*found);
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    return guarded([&] {
      const std::int32_t id = frame->hd.stream_id;
      Stream* const opened = self.takes_streams_ ? self.source_.open_stream() : nullptr;
      if (opened == nullptr) {
        nghttp2_submit_rst_stream(native, NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
        return int{NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE};
      }
      self.attach(*opened, id);
      self.begin_fields(*opened);
      nghttp2_session_set_stream_user_data(native, id, opened);
      ++self.open_heads_;
      ++self.opened_;
      return 0;
    });
  }

  /// Stops between two fields: at the begin of a head, if enough heads were completed.
  static int on_header(nghttp2_session* native, const nghttp2_frame* frame,
                       const std::uint8_t* name, std::size_t name_size, const std::uint8_t* value,
                       std::size_t value_size, std::uint8_t flags, void* user) {
    Session& self = session(user);
    const int result =
        SharedCallbacks::on_header(native, frame, name, name_size, value, value_size, flags, user);
    self.fields_ += name_size + value_size + http::field_overhead;
    if (result != 0 || !self.is_at_bound()) return result;
    self.has_paused_ = true;
    return NGHTTP2_ERR_PAUSE;
  }

  static void take_frame(Session& self, const nghttp2_frame& frame, Stream* stream) {
    const bool ends = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    switch (frame.hd.type) {
      case NGHTTP2_HEADERS:
        if (stream == nullptr) return;
        if (!stream->has_head_) {
          --self.open_heads_;
          ++self.heads_;
          stream->has_head_ = true;
          stream->has_ended_ = ends;
          if (stream->head_.is_too_large()) self.note_glitch();
          return stream->on_head();
        }
        break;
      case NGHTTP2_DATA:
        if (frame.hd.length == frame.data.padlen && !ends) self.note_glitch();
        break;
      case NGHTTP2_SETTINGS:
        if ((frame.hd.flags & NGHTTP2_FLAG_ACK) != 0) return;
        ++self.replies_;
        if (++self.settings_ > free_settings) self.note_glitch();
        return;
      case NGHTTP2_PING:  // Weir sends none, so none is acknowledged
        if ((frame.hd.flags & NGHTTP2_FLAG_ACK) == 0) ++self.replies_;
        if ((frame.hd.flags & NGHTTP2_FLAG_ACK) != 0 || ++self.pings_ > free_pings)
          self.note_glitch();
        return;
      case NGHTTP2_GOAWAY:
        if (++self.goaways_ > free_goaways) self.note_glitch();
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

  static int on_closed(nghttp2_session* native, std::int32_t id, std::uint32_t error_code,
                       void* user) {
    Stream* const found = stream(native, id);
    if (found == nullptr) return 0;
    return guarded([&] {
      session(user).close(*found, error_code);
      return 0;
    });
  }

  static int on_frame_sent(nghttp2_session* native, const nghttp2_frame* frame, void* user) {
    Session& self = session(user);
    if (frame->hd.type == NGHTTP2_RST_STREAM && answers_fault(frame->rst_stream.error_code))
      self.note_glitch();
    if (frame->hd.type == NGHTTP2_GOAWAY) {
      self.has_sent_goaway_ |= !self.takes_streams_;
      self.has_sent_error_ |= frame->goaway.error_code != NGHTTP2_NO_ERROR;
    }
    const bool may_end = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    if (!may_end || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    // The rest of the request is not wanted (RFC 9113 section 8.1), unless it is the other
    // direction of a tunnel.
    const Stream* const found = stream(native, frame->hd.stream_id);
    if (found != nullptr && !found->has_ended_ && found->head_.protocol().empty()) {
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

  static const nghttp2_session_callbacks* all() {
    static const weir::http2::Callbacks callbacks = [] {
      auto owned = make();
      nghttp2_session_callbacks* const made = owned.get();
      nghttp2_session_callbacks_set_on_begin_frame_callback(made, on_begin_frame);
      nghttp2_session_callbacks_set_unpack_extension_callback(made, ignore_unknown);
      nghttp2_session_callbacks_set_on_begin_headers_callback(made, on_begin_headers);
      nghttp2_session_callbacks_set_on_header_callback(made, on_header);
      nghttp2_session_callbacks_set_on_frame_recv_callback(made, pass_frame<ServerCallbacks>);
      nghttp2_session_callbacks_set_on_stream_close_callback(made, on_closed);
      nghttp2_session_callbacks_set_on_frame_send_callback(made, on_frame_sent);
      nghttp2_session_callbacks_set_on_frame_not_send_callback(made, on_frame_not_sent);
      return owned;
    }();
    return callbacks.get();
  }
};

Session::Session(StreamSource& source, const SessionOptions& options)
    : SessionCore(options.max_head),
      source_(source),
      heads_at_once_(options.heads_at_once),
      heads_at_first_(options.heads_at_first),
      fields_at_once_(options.fields_at_once),
      piece_size_(options.piece_size),
      max_streams_(static_cast<std::uint32_t>(options.max_streams)),
      stream_window_(static_cast<std::uint64_t>(options.stream_window)),
      free_late_heads_(options.max_streams),
      glitches_(options.glitches) {
  nghttp2_session* made = nullptr;
  if (nghttp2_session_server_new3(&made, ServerCallbacks::all(), this, session_option(),
                                  session_memory()) != 0)
    throw std::bad_alloc();
  own(made);
  const std::array<nghttp2_settings_entry, 4> settings{{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, max_streams_ + most_refused_streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<std::uint32_t>(options.stream_window)},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(options.max_head)},
      {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1},  // RFC 8441 section 3
  }};
  const bool is_set =
      nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, settings.data(), settings.size()) == 0 &&
      nghttp2_session_set_local_window_size(made, NGHTTP2_FLAG_NONE, 0,
                                            options.connection_window) == 0;
  if (!is_set) throw std::bad_alloc();
}

Session::~Session() = default;

bool Session::append_output(std::string& out, std::size_t most) {
  const std::size_t begin = out.size();
  if (!SessionCore::append_output(out, most)) return false;
  if (out.size() > begin && !std::exchange(has_announced_, true))
    announce(std::span(out).subspan(begin));
  if (queued_frames() == 0) has_resets_ = false;
  return true;
}

/// Writes the number of streams into the SETTINGS frame that begins the output. nghttp2 ends a
/// connection with more streams than it was given, so it was given more: a StreamSource refuses
/// only the stream (RFC 9113 section 5.1.2).
void Session::announce(std::span<char> output) const {
  constexpr std::size_t entry_size = 6;
  for (std::size_t at = frame_head_size; at + entry_size <= output.size(); at += entry_size) {
    if (output[at] != 0 || output[at + 1] != NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS) continue;
    for (std::size_t i = 0; i < 4; ++i)
      output[at + 2 + i] = static_cast<char>(max_streams_ >> (24 - 8 * i));
    return;
  }
}

/// Other frames than replies that nghttp2 has queued meanwhile are nearly always resets.
bool Session::receive(std::string_view bytes) {
  if (!std::exchange(has_paused_, false)) pings_ = 0;
  heads_ = fields_ = received_ = replies_ = 0;
  const std::size_t queued_before = queued_frames();
  const bool goes_on = receive_pieces(bytes);
  has_resets_ |= queued_frames() > queued_before + replies_;
  return goes_on;
}

bool Session::receive_pieces(std::string_view bytes) {
  const bool in_small_steps = glitches_.is_notable() && piece_size_ != 0;
  const bool is_first = opened_ == 0 && heads_at_first_ != 0;
  most_heads_ = in_small_steps ? 1 : is_first ? heads_at_first_ : heads_at_once_;
  const std::size_t most = piece_size_ != 0 ? piece_size_ : bytes.size();
  // Few calls of the library for bytes without faults, and a small piece for those that begin with
  // them.
  const bool is_whole = in_small_steps || piece_size_ == 0;
  std::size_t piece_size = is_whole ? most : (most + 3) / 4;
  const std::size_t faults_before = glitches_.total();
  do {
    if (!receive_bytes(bytes.substr(received_, piece_size))) return false;
    received_ += bytes_taken();
    taken_bytes_ += bytes_taken();
    note_ignored_bytes();
    if (has_paused_) return true;
    piece_size = std::min(2 * piece_size, most);
    has_paused_ = received_ < bytes.size() &&
                  (in_small_steps || glitches_.total() >= faults_before + faults_at_once);
  } while (!has_paused_ && received_ < bytes.size());
  return true;
}

std::size_t Session::queued_frames() const {
  return nghttp2_session_get_outbound_queue_size(native());
}

bool Session::is_at_bound() const {
  return (most_heads_ != 0 && heads_ >= most_heads_) ||
         (fields_at_once_ != 0 && fields_ >= fields_at_once_);
}

std::uint64_t Session::most_window_updates() const {
  return free_window_updates + sent() / bytes_per_update + updates_per_data_frame * uncut_frames();
}

/// Requests that were on their way when GOAWAY was sent are ignored (RFC 9113 section 6.8), but a
/// client that goes on sending them, or heads for closed streams, makes Weir decode them in vain.
void Session::begin_head(std::int32_t id, bool is_open, bool has_body) {
  if (ids_.was_skipped(id)) terminate(ErrorCode::protocol_error);
  const bool is_new = ids_.note(id);
  if (is_new && has_body) ++bodies_;
  const bool is_late = is_new && has_sent_goaway_ && ++late_heads_ > free_late_heads_;
  if (is_late || (!is_new && !is_open)) note_glitch();
}

/// A frame counts when it begins, so the difference is that of whole frames at most.
void Session::note_ignored_bytes() {
  const auto allowed = [this] {
    return frame_bytes_ + free_ignored_bytes + stream_window_ * bodies_ +
           bytes_per_ignored_glitch * ignored_noted_;
  };
  while (taken_bytes_ > allowed() && glitches_.state() != Glitches::State::spent) {
    ++ignored_noted_;
    note_glitch();
  }
}

void Session::close(Stream& stream, std::uint32_t error_code) {
  if (!stream.has_head_) --open_heads_;
  if (error_code == NGHTTP2_NO_ERROR && stream.has_responded_) glitches_.forgive();
  detach(stream, error_code);
}

/// Only a lack of memory can fail here. The response does not come, so the stream is reset, or the
/// connection ends with the next call of the library.
void Session::respond(Stream& stream, int status, const http::FieldSection& fields, bool has_body) {
  if (stream.is_closed_) return;
  const auto digits = digits_of(status);
  const auto& pairs = pairs_of(fields, {digits.data(), digits.size()});
  nghttp2_data_provider body = ServerCallbacks::body();
  stream.has_responded_ = true;
  if (nghttp2_submit_response(native(), stream.id_, pairs.data(), pairs.size(),
                              has_body ? &body : nullptr) != 0)
    reset(stream, ErrorCode::internal_error);
}

void Session::inform(Stream& stream, int status, const http::FieldSection& fields) {
  if (stream.is_closed_) return;
  const auto digits = digits_of(status);
  const auto& pairs = pairs_of(fields, {digits.data(), digits.size()});
  nghttp2_submit_headers(native(), NGHTTP2_FLAG_NONE, stream.id_, nullptr, pairs.data(),
                         pairs.size(), nullptr);
}

void Session::begin_drain() {
  nghttp2_submit_shutdown_notice(native());
}

void Session::end_drain() {
  takes_streams_ = false;
  nghttp2_submit_goaway(native(), NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(native()), NGHTTP2_NO_ERROR,
                        nullptr, 0);
}

void Session::note_glitch() {
  const auto before = glitches_.state();
  glitches_.note();
  const auto now = glitches_.state();
  if (now == before) return;
  was_given_up_ = true;
  now == Glitches::State::spent ? terminate(ErrorCode::enhance_your_calm) : end_drain();
}

}  // namespace weir::http2
