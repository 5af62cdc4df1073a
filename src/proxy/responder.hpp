// Where the response of an exchange goes, whatever the protocol of the client.
//
// An exchange sends interim responses and then one final response: answer(), or begin(), append(),
// end() and send(), or switch_protocols() and tunnel(). Framing and whether the connection is kept
// are the responder's. Between begin() or append() and the send() after it nothing may suspend.
// Used from its worker's loop only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/time.hpp"
#include "proxy/forwarded_head.hpp"
#include "proxy/input_buffer.hpp"
#include "proxy/io.hpp"
#include "proxy/stream.hpp"

namespace weir::proxy {

/// Up to this much of a body is gathered into one send; larger pieces are sent from where they are.
inline constexpr std::size_t gather_limit = 16 * 1024;

/// A response that Weir makes itself. The views are used before anything suspends.
struct OwnAnswer {
  int status = 0;
  std::string_view content_type{};
  std::string_view fields{};  ///< lines, each ended by CRLF
  std::string_view body{};
  std::string_view limit_fields{};  ///< the RateLimit lines
};

/// The upstream's final response, without its body.
struct ForwardedAnswer {
  const ResponseHead& head;
  std::string_view limit_fields;
  std::string_view date;  ///< for a response without a Date
};

/// The upstream's end of a tunnel.
struct TunnelEnd {
  Stream& stream;
  InputBuffer& input;     ///< what it has sent after the head of its response
  Duration idle_timeout;  ///< at most this long without a byte either way
};

class Responder {
 public:
  virtual ~Responder() = default;

  virtual Task<> answer(OwnAnswer answer) = 0;
  virtual Task<error_code> interim(const ResponseHead& head) = 0;

  /// Nothing is sent before send(), and until then the response can be another one.
  virtual void begin(const ForwardedAnswer& answer) = 0;
  /// False: the piece is too large to be copied; it is for send_from_place(), after send().
  virtual bool append(std::string_view piece) = 0;
  virtual void end(std::string_view trailer_lines) = 0;
  /// Sends what has been built. True: not all of it went; flush() sends the rest.
  virtual bool send(error_code& ec) = 0;
  virtual Task<error_code> flush() = 0;
  /// Sends a piece that stays where it is meanwhile.
  virtual Task<error_code> send_from_place(std::string_view piece) = 0;

  virtual Task<error_code> switch_protocols(const ForwardedAnswer& answer) = 0;
  /// Passes bytes both ways until both sides have ended. False: one side broke off.
  virtual Task<bool> tunnel(TunnelEnd upstream) = 0;

  /// Cuts the response so that the client can see that it is not complete.
  virtual void reset() = 0;

  /// The status of the final response, from begin() or answer() on; 0 before.
  int status() const { return status_; }
  /// A part of the final response may have been sent.
  bool has_begun() const { return has_begun_; }
  /// All bytes sent to the client for this request.
  std::uint64_t bytes_sent() const { return bytes_sent_; }

 protected:
  int status_ = 0;
  bool has_begun_ = false;
  std::uint64_t bytes_sent_ = 0;
};

}  // namespace weir::proxy
