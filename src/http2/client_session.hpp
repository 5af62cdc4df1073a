// The client's side of an HTTP/2 connection (RFC 9113), without I/O: bytes of the server in, bytes
// for the server out.
//
// Nothing is counted against the server as against a client, but heads are bounded, windows bound
// bodies, and a malformed response ends its stream only. A session is used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/forwarded_head.hpp"
#include "http2/session_core.hpp"

namespace weir::http2 {

struct ClientSessionOptions {
  std::size_t max_streams = 100;                 ///< unless the server allows fewer
  std::size_t max_head = 64 * 1024;              ///< of a response, with http::field_overhead for
                                                 ///< each field
  std::int32_t stream_window = 256 * 1024;       ///< bytes of a body that wait in a stream
  std::int32_t connection_window = 0x1'900'000;  ///< the same of all streams: 100 of them, so that
                                                 ///< those that wait do not hold up another
};

class ClientSession : public SessionCore {
 public:
  /// Throws std::bad_alloc.
  explicit ClientSession(const ClientSessionOptions& options);

  /// Takes bytes of the server. False: the connection is to be closed after what append_output()
  /// still gives.
  bool receive(std::string_view bytes) { return receive_bytes(bytes); }
  /// True if the server takes another request now. Before its SETTINGS arrive, which have its
  /// limit, one stream can be opened.
  bool can_open() const;
  /// Sends the head of a request; without a body it ends the request. Fields named Host are left
  /// out: see RequestPseudoFields. False: no stream can be opened; nothing was sent.
  bool open(Stream& stream, const http::RequestPseudoFields& pseudo, std::string_view scheme,
            const http::FieldSection& fields, bool has_body);
  /// Forgets the stream and resets it unless it is closed. No function of it is called any more.
  void forget(Stream& stream, ErrorCode code);
  /// Opens no more streams; those in progress go on.
  void begin_drain() { takes_streams_ = false; }
  bool has_settings() const { return has_settings_; }
  /// True if the server has announced that it ends the connection (GOAWAY).
  bool is_ending() const { return is_ending_; }
  /// The error code of its last GOAWAY; see error_name().
  std::uint32_t goaway_code() const { return goaway_code_; }

 private:
  struct ClientCallbacks;

  const std::size_t max_streams_;
  bool takes_streams_ = true;
  bool is_ending_ = false;
  std::uint32_t goaway_code_ = 0;
  bool has_settings_ = false;
};

/// True if the server has not processed the request of a closed stream, so that it may be sent
/// again whatever its method (RFC 9113 section 8.7).
bool was_refused(const Stream& stream);

/// How the server ended a stream before its response was complete.
struct StreamCut {
  enum class By : std::uint8_t {
    connection,  ///< the connection ended without a reason
    refusal,     ///< RST_STREAM with REFUSED_STREAM
    reset,       ///< RST_STREAM with another code
    goaway,  ///< the stream is beyond the last one of a GOAWAY, or the connection ended after it
  };

  By by = By::connection;
  std::uint32_t code = 0;  ///< of the reset or of the GOAWAY; see error_name()

  friend bool operator==(const StreamCut&, const StreamCut&) = default;
};

/// `stream` is closed, or its connection has ended.
StreamCut cut_of(const ClientSession& session, const Stream& stream);

}  // namespace weir::http2
