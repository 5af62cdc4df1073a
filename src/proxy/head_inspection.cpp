#include "proxy/head_inspection.hpp"

#include "http/upgrade.hpp"
#include "identity/client_address.hpp"
#include "proxy/failure.hpp"
#include "proxy/head_parser.hpp"

namespace weir::proxy {
namespace {

/// RFC 9110 section 7.8. A request with a body is answered in HTTP: the server may ignore the
/// offer, and the tunnel would begin in the middle of a message.
void note_upgrade(Exchange& exchange) {
  const auto& request = exchange.request;
  if (!exchange.connection.upgrade || request.version_minor == 0 || !exchange.body_is_read) return;
  http::append_upgrade_offer(exchange.upgrade, request.fields);
}

}  // namespace

http::RawBytes raw_bytes(const Downstream& downstream) {
  return downstream.raw_target_bytes ? http::RawBytes::pass : http::RawBytes::refuse;
}

bool is_too_large(const Downstream& downstream, std::uint64_t body_size) {
  return downstream.max_body != 0 && body_size > downstream.max_body;
}

std::optional<http::Refusal> inspect_head(const RequestRules& rules, const Settings& config,
                                          const identity::IpAddress& peer, std::string_view head,
                                          Exchange& exchange) {
  const auto line = parse_request_head(head, exchange.fields);
  if (!line) return why_refused(head, exchange.fields);
  rules.field_guard.drop_unusual(exchange.fields);
  auto& request = exchange.request;
  request.method = line->method;
  request.version_minor = static_cast<std::uint8_t>(line->version % 10);
  request.fields = exchange.fields;

  const auto& downstream = config.downstream;
  if (line->target.size() > downstream.max_target) return answer_to(Failure::target_too_long);
  if (const auto refusal =
          http::set_target(request, line->target, exchange.target_storage, raw_bytes(downstream)))
    return refusal;
  if (!rules.route_table.accepts_method(request.method)) return routing::lower_case_method;
  const auto framing = http::request_framing(request);
  if (!framing) return framing.error();
  exchange.body = *framing;
  exchange.body_is_read = framing->kind == http::Framing::Kind::none ||
                          *framing == http::Framing{http::Framing::Kind::length, 0};
  if (is_too_large(downstream, framing->length)) return answer_to(Failure::body_too_large);

  exchange.connection = http::connection_options(request.fields, rules.kept_fields);
  if (exchange.connection.too_many) return answer_to(Failure::head_malformed);
  exchange.keep_alive = !http::wants_close(request.version_minor, exchange.connection);
  note_upgrade(exchange);
  exchange.client = identity::client_address(config.client_address, peer, request);
  if (rules.repeats_read_field(exchange.fields)) return answer_to(Failure::identity_repeated);
  return rules.field_guard.refusal_of(request.fields);
}

}  // namespace weir::proxy
