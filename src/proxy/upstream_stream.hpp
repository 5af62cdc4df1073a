// One request to a server and its response, independent of the server's protocol.
//
// The request is built by begin(), append() and end(), and sent by send(); nothing may suspend
// between begin() or append() and the following send(). The response is read by take_head() and
// pull(), with fill() whenever more bytes are needed. Both may be in progress at the same time.
// Destroying the stream cuts both. Used from its worker's loop only.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "http/forwarded_head.hpp"
#include "http/trailers.hpp"
#include "loop/cancellable.hpp"
#include "loop/io.hpp"
#include "proxy/failure.hpp"
#include "proxy/request_body.hpp"
#include "upstream/connection.hpp"

namespace weir::proxy {

class UpstreamStream : public loop::Cancellable {
 public:
  enum class HeadState : std::uint8_t {
    complete,
    incomplete,  ///< fill() reads more of it
    malformed,
  };

  /// The head of a response. The views are valid until more is read.
  struct Head {
    http::StatusLine line{};
    std::span<const http::FieldView> fields{};
    http::ConnectionOptions connection{};
    http::Framing body{};
    bool may_have_trailers = false;
  };

  /// One of the failures of is_cut(), and the error code that answer_to() takes.
  struct Cut {
    Failure failure = Failure::upstream_broken;
    std::uint32_t http2_error = 0;
  };

  virtual ~UpstreamStream() = default;

  /// Begins a request. The body follows as its framing says; end() is called without one, too.
  virtual void begin(const http::ReceivedRequest& request, const http::ForwardedHop& hop) = 0;
  virtual void append(std::string_view piece) = 0;
  virtual void end(const http::FieldSection& trailers) = 0;
  /// Sends what was built. True: some of it is left, and flush() sends it.
  virtual bool send(error_code& ec) = 0;
  virtual loop::Task<error_code> flush() = 0;

  /// Takes the next head from what has arrived, interim or final.
  virtual HeadState take_head(Head& head) = 0;
  /// Stores the trailer fields of the response in `trailers`; without this call they are dropped.
  /// Called after the final head.
  virtual void keep_trailers(http::Trailers& trailers) = 0;
  /// Returns the next piece of the body from what has arrived. No I/O.
  virtual BodyState pull(std::string_view& piece) = 0;
  /// Waits until more has arrived, or the response has ended.
  virtual loop::Task<error_code> fill() = 0;
  /// True if bytes of the response have arrived that were not taken.
  virtual bool has_unread() const = 0;

  /// The connection after a 101 response, whose bytes pass unchanged; nullptr: the protocol has no
  /// upgrade.
  virtual upstream::Connection* upgraded() = 0;
  /// True if the connection was used before this request, and the server may have closed it
  /// meanwhile.
  virtual bool was_used() const = 0;
  /// True if the server has not processed the request, so that it may be sent again whatever its
  /// method.
  virtual bool was_refused() const = 0;
  /// How the server ended the stream before the response was complete.
  virtual Cut cut() const = 0;
  /// The reason why TLS failed; empty if it did not.
  virtual std::string_view tls_error() const = 0;
  /// The response has not arrived in time.
  virtual void timed_out() = 0;
  /// Ends the use of the stream after the whole response. `is_sent`: the whole request was sent.
  virtual void finish(bool is_sent) = 0;
};

}  // namespace weir::proxy
