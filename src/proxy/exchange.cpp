#include "proxy/exchange.hpp"

namespace weir::proxy {
namespace {

AccessDecision decision_of(const Exchange& exchange) {
  switch (exchange.outcome) {
    case limiter::Outcome::unlimited:
      return AccessDecision::none;
    case limiter::Outcome::denied:
      return AccessDecision::denied;
    case limiter::Outcome::identity_required:
    case limiter::Outcome::too_many_limits:
    case limiter::Outcome::identity_ambiguous:
    case limiter::Outcome::failed:
      return AccessDecision::error;
    case limiter::Outcome::allowed:
      break;
  }
  if (exchange.shadow_denied) return AccessDecision::shadow_denied;
  return exchange.delay > Duration{0} ? AccessDecision::delayed : AccessDecision::allowed;
}

std::string_view value_of(const http::FieldView* field) {
  return field == nullptr ? std::string_view{} : field->value;
}

}  // namespace

void Exchange::reset() {
  static_cast<ExchangeRecord&>(*this) = {};
  fields.clear();
  upgrade.clear();
  limit_fields.clear();
  violated.clear();
}

AccessRecord record_of(const Exchange& exchange, Duration took) {
  const bool answers_a_question = exchange.route != nullptr && exchange.route->decide;
  const auto& request = answers_a_question ? exchange.routed.original.request : exchange.request;
  AccessRecord record{.time = exchange.started_at,
                      .method = request.method,
                      .path = request.path,
                      .status = exchange.status,
                      .bytes_in = exchange.bytes_in,
                      .bytes_out = exchange.bytes_out,
                      .duration = took,
                      .client = exchange.client,
                      .request_id = value_of(request.find("x-request-id")),
                      .user_agent = value_of(request.find(http::FieldId::user_agent)),
                      .protocol = request.version_minor == 0 ? "HTTP/1.0" : "HTTP/1.1"};
  if (exchange.route != nullptr) record.route = exchange.route->name;
  if (exchange.upstream != nullptr) {
    record.upstream = exchange.upstream->name;
    record.upstream_took = exchange.upstream_took;
  }
  if (exchange.outcome == limiter::Outcome::unlimited) return record;
  record.decision = decision_of(exchange);
  record.decision_took = exchange.decision_took;
  record.store = to_string(exchange.decider);
  if (exchange.policy != nullptr) record.policy = exchange.policy->name;
  if (exchange.policy != nullptr && exchange.outcome != limiter::Outcome::failed) {
    record.cost = exchange.cost;
    record.remaining = exchange.remaining;
    record.delay = exchange.delay;
    record.identity = exchange.identity;
  }
  return record;
}

}  // namespace weir::proxy
