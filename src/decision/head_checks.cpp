#include "decision/head_checks.hpp"

#include "decision/refusals.hpp"
#include "identity/client_address.hpp"

namespace weir::decision {

http::RawBytes raw_bytes(const options::Downstream& downstream) {
  return downstream.raw_target_bytes ? http::RawBytes::pass : http::RawBytes::refuse;
}

bool is_too_large(const options::Downstream& downstream, std::uint64_t body_size) {
  return downstream.max_body != 0 && body_size > downstream.max_body;
}

bool is_too_long(const options::Downstream& downstream, std::string_view target) {
  return target.size() > downstream.max_target;
}

std::optional<http::Refusal> check_head(const RequestRules& rules, const ParsedHead& head,
                                        http::ReceivedRequest& request) {
  rules.field_guard.drop_unusual(request.fields);
  request.view.fields = request.fields;
  if (head.target_fault) return head.target_fault;
  if (!rules.route_table.accepts_method(request.view.method)) return routing::lower_case_method;
  if (!head.framing) return head.framing.error();
  request.framing = *head.framing;
  request.is_framed = true;
  if (is_too_large(rules.options.downstream, request.framing.length)) return body_too_large;
  if (head.connection_fault) return head.connection_fault;
  request.keep_alive = head.keep_alive;
  request.client =
      identity::client_address(rules.options.client_address, request.peer, request.view);
  if (rules.repeats_read_field(request.fields)) return repeated_field;
  return rules.field_guard.refusal_of(request.fields);
}

}  // namespace weir::decision
