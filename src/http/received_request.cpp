#include "http/received_request.hpp"

namespace weir::http {

using Kind = Framing::Kind;

bool is_persistent(const Persistence& persistence) {
  return persistence.client_wants && !persistence.draining && persistence.request_will_be_read;
}

bool ends_with_connection(std::uint8_t version_minor, Kind response_body) {
  return version_minor == 0 &&
         (response_body == Kind::until_close || response_body == Kind::chunked);
}

bool is_worth_reading(const ReceivedRequest& request, std::size_t max_drain) {
  if (!request.has_body()) return true;
  if (request.view.find(FieldId::expect) != nullptr) return false;
  return request.framing.kind == Kind::length && request.framing.length <= max_drain;
}

void ReceivedRequest::clear() {
  view = {};
  fields.clear();
  connection.clear();
  framing = {};
  is_framed = false;
  upgrade.clear();
  websocket_key.clear();
  scheme = "http";
  keep_alive = false;
  id = {};
  traceparent = {};
  is_grpc_call = false;
  continues_trace = false;
}

}  // namespace weir::http
