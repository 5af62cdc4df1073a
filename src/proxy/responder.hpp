// The destination of an exchange's response, independent of the client's protocol.
//
// An exchange sends interim responses and then one final response: answer(), or begin(), append(),
// end() and send(), or switch_protocols() and tunnel(). The responder decides the framing and
// whether the connection is kept. Nothing may suspend between begin() or append() and the following
// send(). Used from its worker's loop only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.hpp"
#include "grpc/status.hpp"
#include "http/forwarded_head.hpp"
#include "loop/input_buffer.hpp"
#include "loop/io.hpp"
#include "loop/stream.hpp"
#include "options/proxy.hpp"
#include "proxy/request_body.hpp"
#include "proxy/watchdog.hpp"

namespace weir::proxy {

/// A body is gathered into one send up to this size; larger pieces are sent without a copy.
inline constexpr std::size_t gather_limit = 16 * 1024;

/// A response that Weir generates itself. The views are used before anything suspends.
struct OwnAnswer {
  int status = 0;
  std::string_view content_type{};
  const http::FieldSection* fields = &http::no_fields;
  std::string_view body{};
  const http::FieldSection* limit_fields = &http::no_fields;  ///< the RateLimit fields
  const http::FieldEdits* edits = nullptr;
  /// The reason in plain text, for gRPC clients; empty: see grpc_answer().
  std::string_view detail{};
  std::optional<std::int64_t> retry_after_s{};  ///< as in Retry-After
  /// The status of an answer to a gRPC call, which has everything in its head and no body.
  std::optional<grpc::Status> grpc_status{};
  /// The trailers of an answer to a gRPC call with a body.
  const http::FieldSection* trailers = &http::no_fields;
};

/// The upstream's final response, without its body.
struct ForwardedAnswer {
  const http::ResponseHead& head;
  const http::FieldSection* limit_fields = &http::no_fields;
  std::string_view date;  ///< for a response without a Date
};

/// The upstream side of a tunnel.
struct TunnelEnd {
  loop::Stream& stream;
  loop::InputBuffer& input;  ///< the bytes that it sent after the head of its response
  Duration idle_timeout;     ///< the longest time without a byte in either direction
};

class Responder {
 public:
  virtual ~Responder() = default;

  virtual loop::Task<> answer(OwnAnswer answer) = 0;
  virtual loop::Task<error_code> interim(const http::ResponseHead& head) = 0;

  /// Begins a response. Nothing is sent before send(); until then another response can replace it.
  virtual void begin(const ForwardedAnswer& answer) = 0;
  /// False: the piece is too large to be copied; pass it to send_from_place() after send().
  virtual bool append(std::string_view piece) = 0;
  virtual void end(const http::FieldSection& trailers) = 0;
  /// Sends the bytes built so far. True: some of them are left, and flush() sends them.
  virtual bool send(error_code& ec) = 0;
  virtual loop::Task<error_code> flush() = 0;
  /// Sends a piece, which must stay in place meanwhile.
  virtual loop::Task<error_code> send_from_place(std::string_view piece) = 0;

  virtual loop::Task<error_code> switch_protocols(const ForwardedAnswer& answer) = 0;
  /// Passes bytes in both directions until both sides have ended. False: one side was cut off.
  virtual loop::Task<bool> tunnel(TunnelEnd upstream) = 0;

  /// Cuts the response after the bytes passed to send(), so that the client can detect that it is
  /// incomplete.
  virtual void reset() = 0;

  /// The status of the final response, from begin() or answer() on; 0 before that.
  int status() const { return status_; }
  /// The status of gRPC of the final response, once it is known: that of the trailers, or of the
  /// head of a response without a body. Empty: it has not arrived, or it is not read because the
  /// request is not a call and no limit charges by the status.
  std::optional<grpc::Status> grpc_status() const { return grpc_status_; }
  /// The status that the upstream has stated, also if the client does not get the trailers. Empty:
  /// none.
  void state_grpc_status(std::optional<grpc::Status> status) {
    if (status) grpc_status_ = status;
  }
  /// True if a part of the final response may have been sent.
  bool has_begun() const { return has_begun_; }
  /// All bytes sent to the client for this request.
  std::uint64_t bytes_sent() const { return bytes_sent_; }

 protected:
  /// Prepares for another response.
  void clear() {
    status_ = 0;
    grpc_status_.reset();
    has_begun_ = false;
    bytes_sent_ = 0;
  }

  int status_ = 0;
  std::optional<grpc::Status> grpc_status_;
  bool has_begun_ = false;
  std::uint64_t bytes_sent_ = 0;
};

/// The client of an exchange, whatever its protocol.
struct ClientSide {
  Watchdog* watchdog = nullptr;
  RequestBody* body = nullptr;
  Responder* responder = nullptr;
  std::uint64_t number = 0;  ///< of the client connection, unique in the worker
  options::Serves serves = options::Serves::proxy;
};

}  // namespace weir::proxy
