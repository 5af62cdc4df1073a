#include "http2/client_session.hpp"

#include <algorithm>
#include <array>

#include "http/request_view.hpp"
#include "http2/native.hpp"

namespace weir::http2 {
namespace {

bool is_final(const http::HeaderList& head) {
  return !head.status().starts_with('1');
}

}  // namespace

/// The functions that nghttp2 calls; see SharedCallbacks.
struct ClientSession::ClientCallbacks : SharedCallbacks {
  static ClientSession& session(void* user) { return *static_cast<ClientSession*>(user); }

  static int on_begin_headers(nghttp2_session* native, const nghttp2_frame* frame, void* user) {
    if (Stream* const found = stream(native, frame->hd.stream_id))
      session(user).begin_fields(*found);
    return 0;
  }

  static void take_frame(ClientSession& self, const nghttp2_frame& frame, Stream* stream) {
    if (frame.hd.type == NGHTTP2_GOAWAY) {
      self.is_ending_ = true;
      self.goaway_code_ = frame.goaway.error_code;
    }
    if (frame.hd.type == NGHTTP2_SETTINGS) self.has_settings_ = true;
    if (frame.hd.type == NGHTTP2_RST_STREAM && stream != nullptr) stream->was_reset_ = true;
    const bool is_message = frame.hd.type == NGHTTP2_HEADERS || frame.hd.type == NGHTTP2_DATA;
    if (stream == nullptr || !is_message) return;
    const bool ends = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (!stream->has_head_) {
      stream->has_head_ = is_final(stream->head_);
      stream->has_ended_ = ends;
      return stream->on_head();
    }
    if (!ends || stream->has_ended_) return;
    stream->has_ended_ = true;
    stream->on_end();
  }

  static int on_frame_sent(nghttp2_session* native, const nghttp2_frame* frame, void* /*user*/) {
    Stream* const found = stream(native, frame->hd.stream_id);
    const bool is_request =
        frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
    if (is_request && found != nullptr) found->was_sent_ = true;
    return 0;
  }

  static int on_closed(nghttp2_session* native, std::int32_t id, std::uint32_t error_code,
                       void* user) {
    Stream* const found = stream(native, id);
    if (found == nullptr) return 0;
    return guarded([&] {
      session(user).detach(*found, error_code);
      return 0;
    });
  }

  static const nghttp2_session_callbacks* all() {
    static const Callbacks callbacks = [] {
      auto owned = make();
      nghttp2_session_callbacks* const made = owned.get();
      nghttp2_session_callbacks_set_on_begin_headers_callback(made, on_begin_headers);
      nghttp2_session_callbacks_set_on_frame_recv_callback(made, pass_frame<ClientCallbacks>);
      nghttp2_session_callbacks_set_on_frame_send_callback(made, on_frame_sent);
      nghttp2_session_callbacks_set_on_stream_close_callback(made, on_closed);
      return owned;
    }();
    return callbacks.get();
  }
};

ClientSession::ClientSession(const ClientSessionOptions& options)
    : SessionCore(options.max_head), max_streams_(options.max_streams) {
  nghttp2_session* made = nullptr;
  if (nghttp2_session_client_new3(&made, ClientCallbacks::all(), this, session_option(),
                                  session_memory()) != 0)
    throw std::bad_alloc();
  own(made);
  const std::array<nghttp2_settings_entry, 3> settings{{
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<std::uint32_t>(options.stream_window)},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(options.max_head)},
  }};
  const bool is_set =
      nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, settings.data(), settings.size()) == 0 &&
      nghttp2_session_set_local_window_size(made, NGHTTP2_FLAG_NONE, 0,
                                            options.connection_window) == 0;
  if (!is_set) throw std::bad_alloc();
}

bool ClientSession::can_open() const {
  const auto allowed =
      nghttp2_session_get_remote_settings(native(), NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
  const std::size_t most = has_settings_ ? std::min<std::size_t>(max_streams_, allowed) : 1;
  return takes_streams_ && !is_ending_ && open_streams() < most &&
         nghttp2_session_check_request_allowed(native()) != 0;
}

bool ClientSession::open(Stream& stream, const http::RequestPseudoFields& pseudo,
                         std::string_view scheme, const http::FieldSection& fields, bool has_body) {
  std::vector<nghttp2_nv>& pairs = spare_pairs();
  pairs.push_back(pair_of(":method", pseudo.method));
  pairs.push_back(pair_of(":scheme", scheme));
  pairs.push_back(pair_of(":authority", pseudo.authority));
  pairs.push_back(pair_of(":path", pseudo.path));
  for (const http::Field field : fields) {
    if (!http::iequals(field.name, "host")) pairs.push_back(pair_of(field));
  }
  const nghttp2_data_provider body = ClientCallbacks::body();
  const std::int32_t id = nghttp2_submit_request(native(), nullptr, pairs.data(), pairs.size(),
                                                 has_body ? &body : nullptr, &stream);
  if (id < 0) return false;
  attach(stream, id);
  return true;
}

/// The request may still wait to be sent; then it is cancelled.
void ClientSession::forget(Stream& stream, ErrorCode code) {
  if (stream.is_closed_ || stream.id_ == 0) return;
  const std::int32_t id = stream.id_;
  nghttp2_session_set_stream_user_data(native(), id, nullptr);
  nghttp2_submit_rst_stream(native(), NGHTTP2_FLAG_NONE, id, static_cast<std::uint32_t>(code));
  leave(stream);
}

bool was_refused(const Stream& stream) {
  return stream.is_closed() &&
         (stream.closed_with() == NGHTTP2_REFUSED_STREAM || !stream.was_sent());
}

StreamCut cut_of(const ClientSession& session, const Stream& stream) {
  const std::uint32_t code = stream.closed_with();
  if (stream.was_reset()) {
    return {.by = code == NGHTTP2_REFUSED_STREAM ? StreamCut::By::refusal : StreamCut::By::reset,
            .code = code};
  }
  if (session.is_ending()) return {.by = StreamCut::By::goaway, .code = session.goaway_code()};
  return {};
}

}  // namespace weir::http2
