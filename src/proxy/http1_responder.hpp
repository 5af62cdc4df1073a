// The responses of an HTTP/1 connection: heads, framing, and whether the connection is kept.
//
// Text is built in the worker's scratch buffer and sent before anything suspends. Used from its
// worker's loop only.
#pragma once

#include <string>
#include <string_view>

#include "http/received_request.hpp"
#include "options/proxy.hpp"
#include "proxy/client_connection.hpp"
#include "proxy/http1_request_body.hpp"
#include "proxy/responder.hpp"

namespace weir::proxy {

class Http1Responder final : public Responder {
 public:
  Http1Responder(ClientConnection& connection, Http1RequestBody& body)
      : connection_(connection), body_(body) {}

  /// Begins the response to this request, whose head may not be inspected yet. Both outlive the
  /// response.
  void begin_request(const http::ReceivedRequest& request, const options::Proxy& options);
  /// True if the connection is kept after this response. False until one has been sent.
  bool keeps_connection() const { return has_begun_ && keep_alive_; }

  loop::Task<> answer(OwnAnswer answer) override;
  loop::Task<error_code> interim(const http::ResponseHead& head) override;
  void begin(const ForwardedAnswer& answer) override;
  bool append(std::string_view piece) override;
  void end(const http::FieldSection& trailers) override;
  bool send(error_code& ec) override;
  loop::Task<error_code> flush() override;
  loop::Task<error_code> send_from_place(std::string_view piece) override;
  loop::Task<error_code> switch_protocols(const ForwardedAnswer& answer) override;
  loop::Task<bool> tunnel(TunnelEnd upstream) override;
  void reset() override;

 private:
  http::ClientHop hop(const http::FieldSection* limit_fields) const;
  bool asks_for_head() const;
  std::string& scratch();
  loop::Task<error_code> send_scratch();

  ClientConnection& connection_;
  Http1RequestBody& body_;
  const http::ReceivedRequest* request_ = nullptr;
  const options::Downstream* limits_ = nullptr;
  bool keep_alive_ = false;
  bool is_chunked_ = false;   ///< the body of the response
  bool is_building_ = false;  ///< the scratch buffer holds what send() sends
};

}  // namespace weir::proxy
