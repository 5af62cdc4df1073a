#include "scenario/exchange.hpp"

#include <algorithm>
#include <span>

#include "grpc/fields.hpp"
#include "grpc/status.hpp"
#include "http/forwarded_head.hpp"
#include "http/framing.hpp"
#include "http/head_parser.hpp"
#include "http/problem.hpp"
#include "http/ratelimit_fields.hpp"
#include "http/request_view.hpp"
#include "limiter/verdict.hpp"
#include "log/access_log.hpp"
#include "proxy/failure.hpp"
#include "proxy/grpc_call.hpp"

namespace weir::scenario {
namespace {

constexpr int client_closed_request = 499;  // as the access log has it

const http::FieldEdits* edits_of(const options::Route* route) {
  return route == nullptr || route->response_edits.is_empty() ? nullptr : &route->response_edits;
}

std::string date_at(Instant now) {
  std::string date;
  http::append_http_date(date, now);
  return date;
}

void add_to(std::vector<std::pair<std::string_view, std::int64_t>>& counts, std::string_view policy,
            std::int64_t units) {
  const auto found = std::ranges::find(counts, policy, [](const auto& one) { return one.first; });
  if (found == counts.end()) {
    counts.emplace_back(policy, units);
  } else {
    found->second += units;
  }
}

/// Notes the remaining units of each policy: the least, if it limits the request by several keys.
void note_remaining(const limiter::Verdict& verdict, Happened& to) {
  for (const limiter::LimitVerdict& limit : verdict.limits) {
    const std::int64_t remaining = limit.decision.remaining;
    const auto known = std::ranges::find(to.remaining, limit.policy->name,
                                         [](const auto& one) { return one.first; });
    if (known == to.remaining.end()) {
      to.remaining.emplace_back(limit.policy->name, remaining);
    } else {
      known->second = std::min(known->second, remaining);
    }
  }
}

/// The status of gRPC in these fields, if there is one.
template <class Fields>
std::optional<int> grpc_status_in(const Fields& fields) {
  for (const auto& field : fields) {
    if (http::iequals(field.name, "grpc-status"))
      return grpc::code_of(grpc::parse_status(field.value));
  }
  return std::nullopt;
}

bool has_grpc_content(std::span<const http::FieldView> fields) {
  return std::ranges::any_of(fields, [](const http::FieldView& field) {
    return http::iequals(field.name, "content-type") && grpc::is_grpc(field.value);
  });
}

/// Notes the final charge: the settlements of limits that hold, and the costs of the others. A
/// denied request is charged by policies with count_rejected only.
void note_charges(const offline::Request& request, Happened& to) {
  if (!request.is_limited()) return;
  const limiter::Evaluation& evaluation = request.decision().evaluation();
  const auto held = request.holds_units() ? std::span(evaluation.held.limits)
                                          : std::span<const limiter::HeldLimit>();
  for (std::size_t i = 0; i < held.size(); ++i)
    add_to(to.charged, held[i].policy->name, evaluation.held.settlements[i].actual);
  const limiter::Outcome outcome = request.verdict().outcome;
  const bool is_denied =
      outcome == limiter::Outcome::denied || outcome == limiter::Outcome::forbidden;
  for (const limiter::LimitVerdict& limit : request.verdict().limits) {
    if (limit.decision.held > 0) continue;
    const bool is_charged =
        limit.terms->numbers.count_rejected || (!is_denied && limit.decision.allowed);
    add_to(to.charged, limit.policy->name, is_charged ? limit.cost : 0);
  }
}

}  // namespace

void Exchange::begin(const Step& its_step, std::int64_t its_repetition, Instant at) {
  step_ = &its_step;
  repetition_ = its_repetition;
  leaves_at_.reset();
  if (its_step.request.leaves_after) leaves_at_ = at + *its_step.request.leaves_after;
  has_left_ = is_response_ = false;
  trace_.limits.clear();
  trace_.plan.reset();
  recorded_.clear();
  answer_ = {};
  is_call_ = false;
}

Instant Exchange::decided(const config::Config& config, Instant start,
                          const offline::Request& request) {
  if (!request.refusal()) {
    recorded_.take(request.verdict(), config.proxy.response_fields, config.limiter.identities);
    recorded_.queued = request.decided_at() - request.arrived_at();
  }
  kind_ = Kind::own_answer;
  const options::Route* const found = request.decision().route();
  // A scenario has no protocol: a call is what it would be over HTTP/2.
  is_call_ =
      proxy::has_grpc_content(request.received().view) && (found == nullptr || !found->decide);
  if (!request.is_admitted()) {
    answer(config, request);
    return request.decided_at();
  }
  const options::Route& route = *found;
  const Instant passed_at = request.passed_at();
  if (!route.upstream) {
    answer_ = {.status = route.respond.status,
               .content_type = route.respond.content_type,
               .fields = &route.respond.fields,
               .body = route.respond.body,
               .limit_fields = &recorded_.limit_fields,
               .edits = edits_of(&route)};
    answer_call(config);
    kind_ = Kind::fixed;
    if (!route.decide || !request.holds_units()) return passed_at;
    kind_ = step_->response.is_written ? Kind::report : Kind::lease;
    return kind_ == Kind::report ? end_of_response(start, passed_at) : passed_at + route.hold_lease;
  }
  if (const auto own =
          proxy::answer_instead_of_upstream(route, request.received(), recorded_, body_)) {
    answer_ = *own;
    answer_.edits = edits_of(&route);
    answer_call(config);
    return passed_at;
  }
  kind_ = Kind::response;
  return end_of_response(start, passed_at);
}

Instant Exchange::end_of_response(Instant start, Instant passed_at) const {
  const Response& response = step_->response;
  return response.until ? std::max(start + *response.until, passed_at) : passed_at + response.after;
}

/// The answer to a request that is not admitted.
void Exchange::answer(const config::Config& config, const offline::Request& request) {
  const options::Route* const route = request.decision().route();
  const proxy::AnswerPhase phase{.options = config.proxy.response_fields,
                                 .request_fields = request.received().fields,
                                 .now = request.decided_at()};
  if (request.refusal()) {
    answer_ = proxy::refusal_answer(*request.refusal(), route, recorded_, body_);
  } else if (recorded_.outcome == limiter::Outcome::denied) {
    answer_ = proxy::denial_answer(recorded_, phase, fields_, body_);
  } else {
    answer_ = proxy::undecided_answer(recorded_, route, phase, fields_, body_);
    is_response_ = proxy::counts_as_response(recorded_.outcome);
  }
  answer_.edits = edits_of(route);
  answer_call(config);
}

/// Puts an own answer to a call in the terms of gRPC, as proxy::Exchange::answer.
void Exchange::answer_call(const config::Config& config) {
  answer_status_ = answer_.status;
  if (is_call_ && answer_.status >= 400)
    answer_ = proxy::grpc_answer(answer_, recorded_, config.proxy.grpc, grpc_);
}

/// The status of gRPC of the response; empty: it is neither one to a call nor states a status, or
/// it is not complete.
std::optional<int> Exchange::grpc_status() const {
  const Response& response = step_->response;
  if (has_left_ || (!is_call_ && kind_ != Kind::response)) return std::nullopt;
  if (kind_ != Kind::response || response.failure != proxy::Failure::none) {
    if (answer_.grpc_status) return grpc::code_of(*answer_.grpc_status);
    return grpc_status_in(*answer_.fields);
  }
  if (response.grpc_status) return response.grpc_status;
  if (const auto stated = grpc_status_in(response_fields_)) return stated;
  if (!is_call_ && !has_grpc_content(response_fields_)) return std::nullopt;
  return grpc::code_of(response.status == 200 ? grpc::Status::ok
                                              : grpc::status_of_http(response.status));
}

/// The upstream's response, as it would send it.
const std::string& Exchange::upstream_head() {
  const Response& response = step_->response;
  upstream_head_ = "HTTP/1.1 " + std::to_string(response.status) + ' ';
  upstream_head_.append(http::reason_phrase(response.status)).append("\r\n");
  bool has_type = response.content_type.empty();
  for (const auto& [name, value] : response.fields) {
    has_type = has_type || http::iequals(name, "content-type");
    upstream_head_.append(name).append(": ").append(value).append("\r\n");
  }
  if (!has_type)
    upstream_head_.append("Content-Type: ").append(response.content_type).append("\r\n");
  upstream_head_.append("Content-Length: ").append(std::to_string(response.body.size()));
  return upstream_head_.append("\r\n\r\n");
}

offline::Ending Exchange::ending() {
  if (has_left_) return {.how = {.is_grpc = is_call_, .client_has_left = true}};
  switch (kind_) {
    case Kind::own_answer:
      if (!is_response_) return {};
      [[fallthrough]];
    case Kind::fixed:
      return {.how = {.status = answer_status_, .grpc_status = grpc_status(), .is_grpc = is_call_}};
    case Kind::lease:
      return {.how = {.lease_has_ended = true}};
    case Kind::report:
    case Kind::response:
      break;
  }
  if (step_->response.failure != proxy::Failure::none) return {};
  const auto line = http::parse_response_head(upstream_head(), response_fields_);
  status_line_ = line.value_or(http::StatusLine{.status = step_->response.status, .reason = {}});
  const auto outcome = grpc_status();
  return {.how = {.status = step_->response.status,
                  .grpc_status = outcome,
                  .is_grpc = is_call_ || outcome},
          .fields = response_fields_,
          .body = step_->response.body};
}

Happened Exchange::end(const config::Config& config, offline::Instance& instance,
                       offline::Request& request, Instant now) {
  const bool has_verdict = !request.refusal();
  instance.end(request, ending(), now);
  Happened happened;
  happened.decision =
      has_verdict ? log::to_string(proxy::decision_of(recorded_)) : std::string_view();
  if (recorded_.policy != nullptr) {
    happened.policy = recorded_.policy->name;
    happened.left = recorded_.remaining;
  }
  if (const options::Route* const route = request.decision().route()) {
    happened.route = route->name;
    if (route->upstream) happened.upstream = config.upstreams[*route->upstream].name;
  }
  if (recorded_.plan != nullptr) happened.plan = *recorded_.plan;
  if (recorded_.retry_after)
    happened.retry_after = http::retry_after_seconds(*recorded_.retry_after, Duration{0}, 0);
  happened.delay = recorded_.delay + recorded_.queued;
  if (has_verdict) {
    note_remaining(request.verdict(), happened);
    note_charges(request, happened);
  }
  respond(config, request, now, happened);
  return happened;
}

/// The response that the client gets.
void Exchange::respond(const config::Config& config, const offline::Request& request, Instant now,
                       Happened& to) {
  const Expectation& expected = step_->expect;
  const proxy::Failure failure = step_->response.failure;
  if (has_left_) {
    to.status = client_closed_request;
    return;
  }
  const bool is_forwarded = kind_ == Kind::response && failure == proxy::Failure::none;
  if (kind_ == Kind::response && !is_forwarded) {
    const options::Route* const route = request.decision().route();
    answer_ = proxy::refusal_answer(proxy::answer_to(failure), route, recorded_, body_);
    answer_.edits = edits_of(route);
    answer_call(config);
  }
  to.grpc_status = grpc_status();
  to.status = is_forwarded ? step_->response.status : answer_.status;
  const std::string_view method = request.received().view.method;
  if (expected.body && method != "HEAD")
    to.body = is_forwarded ? std::string_view(step_->response.body) : answer_.body;
  if (expected.fields.empty()) return;
  const http::ClientHop client{.keep_alive = true, .limit_fields = &recorded_.limit_fields};
  if (!is_forwarded)
    return proxy::append_own_answer(to.head, answer_,
                                    {.keep_alive = true, .limit_fields = answer_.limit_fields},
                                    date_at(now), false);
  const http::ConnectionOptions connection = http::connection_options(response_fields_);
  const auto framing = http::response_framing(method, status_line_.status, 1, response_fields_);
  http::append_response_head(to.head,
                             {.line = status_line_,
                              .fields = response_fields_,
                              .connection = connection,
                              .body = framing ? *framing : http::Framing{},
                              .edits = edits_of(request.decision().route())},
                             client, date_at(now));
}

}  // namespace weir::scenario
