#include "decision/head_inspection.hpp"

#include "decision/refusals.hpp"
#include "http/head_parser.hpp"
#include "http/upgrade.hpp"
#include "identity/client_address.hpp"

namespace weir::decision {
namespace {

/// Stores the offered protocols (RFC 9110 section 7.8). The offer of a request with a body is
/// ignored, as a server may do, because the tunnel would begin in the middle of a message.
void note_upgrade(http::ReceivedRequest& request) {
  if (!request.connection.upgrade || request.view.version_minor == 0 || request.has_body()) return;
  http::append_upgrade_offer(request.upgrade, request.view.fields);
}

}  // namespace

http::RawBytes raw_bytes(const options::Downstream& downstream) {
  return downstream.raw_target_bytes ? http::RawBytes::pass : http::RawBytes::refuse;
}

bool is_too_large(const options::Downstream& downstream, std::uint64_t body_size) {
  return downstream.max_body != 0 && body_size > downstream.max_body;
}

std::optional<http::Refusal> refuse_large_head(const options::Downstream& downstream,
                                               std::string_view head) {
  if (head.size() <= downstream.max_head) return std::nullopt;
  switch (http::fault_of_large_head(head.substr(0, downstream.max_head))) {
    case http::HeadFault::malformed:
      break;
    case http::HeadFault::too_large:
      return http::head_too_large;
    case http::HeadFault::long_target:
      return http::target_too_long;
    case http::HeadFault::long_method:
      return http::method_too_long;
  }
  return http::head_malformed;
}

std::optional<http::Refusal> inspect_head(const RequestRules& rules, std::string_view head,
                                          http::ReceivedRequest& request) {
  const auto line = http::parse_request_head(head, request.fields);
  if (!line) return http::why_refused(head, request.fields);
  rules.field_guard.drop_unusual(request.fields);
  auto& view = request.view;
  view.method = line->method;
  view.version_minor = static_cast<std::uint8_t>(line->version % 10);
  view.fields = request.fields;

  const auto& downstream = rules.options.downstream;
  if (line->target.size() > downstream.max_target) return http::target_too_long;
  if (const auto refusal =
          http::set_target(view, line->target, request.target_storage, raw_bytes(downstream)))
    return refusal;
  if (!rules.route_table.accepts_method(view.method)) return routing::lower_case_method;
  const auto framing = http::request_framing(view);
  if (!framing) return framing.error();
  request.framing = *framing;
  request.is_framed = true;
  if (is_too_large(downstream, framing->length)) return body_too_large;

  request.connection = http::connection_options(view.fields, rules.kept_fields);
  if (request.connection.too_many) return http::head_malformed;
  request.keep_alive = !http::wants_close(view.version_minor, request.connection);
  note_upgrade(request);
  request.client = identity::client_address(rules.options.client_address, request.peer, view);
  if (rules.repeats_read_field(request.fields)) return repeated_field;
  return rules.field_guard.refusal_of(request.fields);
}

}  // namespace weir::decision
