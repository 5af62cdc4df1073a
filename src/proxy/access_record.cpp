#include "proxy/access_record.hpp"

#include "http/trace_context.hpp"
#include "http2/error_code.hpp"
#include "proxy/responder.hpp"

namespace weir::proxy {
namespace {

/// True if a store made the decision. `decision`: about a request with limits.
bool is_by_store(const DecisionRecord& decision) {
  if (decision.outcome == limiter::Outcome::token_invalid ||
      decision.outcome == limiter::Outcome::token_unverifiable)
    return decision.policy != nullptr;  // of a limit that needs no token
  return !limiter::is_before_store(decision.outcome);
}

void add_settlement(const DecisionRecord& decision, log::AccessRecord& to) {
  if (decision.policy != nullptr) to.policy = decision.policy->name;
  to.cost = decision.cost;
  to.reserved = decision.reserved;
  to.settled_by = decision.settled_by;
}

std::string_view protocol_of(const http::RequestView& request) {
  if (request.version_major == 2) return "HTTP/2.0";
  return request.version_minor == 0 ? "HTTP/1.0" : "HTTP/1.1";
}

std::string_view value_of(const http::FieldView* field) {
  return field == nullptr ? std::string_view{} : field->value;
}

log::UpstreamError upstream_error(Failure failure) {
  switch (failure) {
    case Failure::upstream_unreachable:
      return log::UpstreamError::unreachable;
    case Failure::upstream_connect_timeout:
      return log::UpstreamError::connect_timeout;
    case Failure::upstream_broken:
      return log::UpstreamError::closed;
    case Failure::upstream_refused:
      return log::UpstreamError::refused_stream;
    case Failure::upstream_reset:
      return log::UpstreamError::reset;
    case Failure::upstream_goaway:
      return log::UpstreamError::goaway;
    case Failure::upstream_invalid:
      return log::UpstreamError::invalid;
    case Failure::upstream_timed_out:
      return log::UpstreamError::timeout;
    case Failure::upstream_unhealthy:
      return log::UpstreamError::unhealthy;
    default:  // none, or not the upstream's
      return log::UpstreamError::none;
  }
}

void add_failure(const ForwardingRecord& forwarded, log::AccessRecord& to) {
  to.upstream_error = upstream_error(forwarded.failure);
  if (forwarded.failure == Failure::upstream_reset || forwarded.failure == Failure::upstream_goaway)
    to.upstream_error_code = http2::error_name(forwarded.http2_error);
}

}  // namespace

log::AccessRecord access_record(const ExchangeFacts& in) {
  const options::Route* const route = in.routes.route();
  const bool answers_a_question = route != nullptr && route->decide;
  const auto& request = answers_a_question ? in.routes.routed().original.request : in.request.view;
  log::AccessRecord record{.time = in.started_at,
                           .method = request.method,
                           .path = request.path,
                           .status = in.status,
                           .aborted_by = in.aborted_by,
                           .bytes_in = in.client.body->received(),
                           .bytes_out = in.client.responder->bytes_sent(),
                           .duration = in.took,
                           .client = in.request.client,
                           .request_id = in.request.id,
                           .trace_id = in.request.traceparent.empty()
                                           ? http::trace_id_of(in.request.view)
                                           : http::trace_id_of(in.request.traceparent),
                           .user_agent = value_of(request.find(http::FieldId::user_agent)),
                           .protocol = protocol_of(in.request.view)};
  if (const auto status = in.client.responder->grpc_status()) [[unlikely]]
    record.grpc_status = grpc::code_of(*status);
  if (route != nullptr) record.route = route->name;
  if (in.decision.plan != nullptr) record.plan = *in.decision.plan;
  if (in.forwarded.upstream != nullptr) {
    record.upstream = in.forwarded.upstream->name;
    record.upstream_server = in.forwarded.server_authority;
    record.upstream_took = in.forwarded.upstream_took;
    if (in.forwarded.failure != Failure::none) [[unlikely]]
      add_failure(in.forwarded, record);
  }
  if (in.decision.outcome == limiter::Outcome::unlimited) {
    if (in.decision.is_report) {
      record.decision = log::AccessDecision::settled;
      add_settlement(in.decision, record);
    }
    return record;
  }
  record.decision = decision_of(in.decision);
  record.decision_took = in.decision.took;
  if (is_by_store(in.decision)) {
    record.store = to_string(in.decision.decider);
    record.decided_at = in.asked_at;
    record.queue_steps = in.decision.queue_steps;
  }
  record.denied_by = in.decision.denied;
  if (in.decision.outcome != limiter::Outcome::failed) record.other_limits = in.decision.others;
  if (in.decision.policy != nullptr) record.policy = in.decision.policy->name;
  if (in.decision.policy != nullptr && in.decision.outcome != limiter::Outcome::failed) {
    add_settlement(in.decision, record);
    record.remaining = in.decision.remaining;
    record.retry_after = in.decision.retry_after;
    record.delay = in.decision.delay + in.decision.queued;
    record.identity = in.decision.identity;
    record.identity_kind = in.limits.identities[in.decision.identity_index].name;
  }
  return record;
}

}  // namespace weir::proxy
