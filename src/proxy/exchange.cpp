#include "proxy/exchange.hpp"

#include <algorithm>

#include "decision/refusals.hpp"
#include "http/forwarding.hpp"
#include "http/trace_context.hpp"
#include "limiter/key_traffic.hpp"
#include "proxy/access_record.hpp"
#include "proxy/delay.hpp"
#include "proxy/grpc_answer.hpp"
#include "proxy/grpc_call.hpp"
#include "proxy/health_watch.hpp"
#include "proxy/own_answers.hpp"
#include "proxy/rate_limit_exchange.hpp"
#include "proxy/rate_limit_methods.hpp"

namespace weir::proxy {
namespace {

/// The statuses that are logged and counted for a request that was cut before its response; they
/// are never sent. nginx logs both: 499, and 444 for a connection that it closed without a
/// response.
constexpr int client_closed_request = 499;
constexpr int cut_by_shutdown = 444;

/// For an extended CONNECT to a route that would answer it 2xx.
constexpr http::Refusal no_tunnel{501, "this route opens no WebSocket"};

AnswerPhase answer_phase(Context& context, const http::ResponseFieldOptions& options,
                         const http::ReceivedRequest& request) {
  return {.options = options,
          .request_fields = request.fields,
          .now = context.pass_clock.now(),
          .random = context.random.next()};
}

log::AbortedBy aborted_by(const Watchdog& watchdog, bool client_is_gone, log::AbortedBy cut_by) {
  if (watchdog.aborted()) return log::AbortedBy::shutdown;
  return client_is_gone ? log::AbortedBy::client : cut_by;
}

/// Edits that change nothing cost nothing.
const http::FieldEdits* in_use(const http::FieldEdits& edits) {
  return edits.is_empty() ? nullptr : &edits;
}

/// Makes the field with the id of a hold the only one of `fields`.
void set_hold_field(const Hash128& id, http::FieldSection& fields) {
  std::string text;
  append_hex(text, id);
  fields.clear();
  fields.add("Weir-Hold", text);
}

/// The id that a trusted peer gives a request; empty: it gives none.
std::string_view given_id(const http::ReceivedRequest& request) {
  if (!request.peer_is_trusted) return {};
  const auto* const field = request.view.find("x-request-id");
  return field != nullptr && http::is_request_id(field->value) ? field->value : std::string_view();
}

/// The rest of a wait: until the deadline of the call if that is earlier.
Duration bounded_wait(Duration wait, std::optional<Instant> deadline, Instant now) {
  return deadline ? std::clamp(*deadline - now, Duration{1}, wait) : wait;
}

}  // namespace

void Exchange::begin(const ClientSide& client) {
  client_ = client;
  generation_ = Pin(*context_.generation);
  request_.clear();
  decision_.clear();
  recorded_.clear();
  stated_.clear();
  hold_.clear();
  copy_.clear();
  trace_.clear();
  forwarded_ = {};
  started_at_ = context_.pass_clock.now();
  own_id_ = http::uuid_v7(started_at_, context_.random.next(), context_.random.next());
  request_.id = {own_id_.data(), own_id_.size()};
  response_status_.reset();
  counted_status_.reset();
  client_is_gone_ = deadline_has_passed_ = false;
  cut_by_ = log::AbortedBy::none;
  count_.begin(*generation_->counters->routes.back(), started_at_);
}

void Exchange::release() {
  if (hold_.has_grant() || copy_.is_open()) settle(context_.clock.now());
  check_.reset();
  generation_ = {};
}

loop::Task<> Exchange::serve() {
  if (const auto id = given_id(request_); !id.empty()) request_.id = id;
  if (options().tracing.is_on()) trace_.begin(request_, options().tracing, context_.random);
  if (client_.serves != options::Serves::proxy &&
      is_for_service(client_.serves, options().client_address, request_)) [[unlikely]]
    co_return co_await serve_rate_limit_call();
  if (const auto refusal = decision_.find_routes(*generation_->request_rules, request_)) {
    if (context_.traffic_copy)
      copy_.begin(*context_.traffic_copy, request_, decision_, nullptr, started_at_);
    co_return co_await refuse(*refusal);
  }
  take_route();
  if (decision_.routes().needs() != options::needs_nothing && !co_await prepare()) co_return;
  if (!decide()) co_await await_store();
  if (context_.traffic_copy) [[unlikely]]
    copy_.begin(*context_.traffic_copy, request_, decision_,
                stated_.was_read() ? client_.body : nullptr,
                decision_.is_limited() ? asked_at_ : started_at_);
  if (recorded_.outcome == limiter::Outcome::denied) {
    const bool has_waited = decision_.waits();
    if (has_waited) co_await wait_for_slot();
    if (client_.watchdog->interruptions().client_left)
      co_return co_await fail(Failure::downstream_gone);
    if (has_waited && is_late(request_, started_at_, context_.clock.now()))
      co_return co_await fail(Failure::deadline_passed);
    if (recorded_.outcome == limiter::Outcome::denied) co_return co_await answer_denied();
  }
  if (recorded_.outcome != limiter::Outcome::allowed &&
      recorded_.outcome != limiter::Outcome::unlimited)
    co_return co_await answer_undecided();
  if (recorded_.delay > Duration{0} && !client_.watchdog->aborted())
    co_await wait_delay(context_, client_,
                        bounded_wait(recorded_.delay, deadline_of(request_, started_at_),
                                     context_.pass_clock.now()));
  if (client_.watchdog->aborted()) co_return;
  if (client_.watchdog->interruptions().client_left)
    co_return co_await fail(Failure::downstream_gone);
  if (request_.is_grpc_call && is_late(request_, started_at_, context_.pass_clock.now()))
      [[unlikely]]
    co_return co_await fail(Failure::deadline_passed);
  if (!decision_.route()->upstream || check_) co_return co_await answer_admitted();
  if (auto own = answer_instead_of_upstream(*decision_.route(), request_, recorded_, context_.body))
    co_return co_await answer(*own);

  if (stated_.was_read()) client_.body->rewind();
  Forwarding forwarding(forward_phase());
  const Failure failure = co_await forwarding.run();
  if (client_.responder->has_begun()) response_status_ = client_.responder->status();
  if (failure != Failure::none) co_await fail(failure);
}

/// With Check, another proxy asks about a request, which is decided as if it had arrived here.
loop::Task<> Exchange::serve_rate_limit_call() {
  const bool is_check = request_.is_grpc_call && request_.view.path == check_path;
  // A reload has removed or added the service, and the listener follows a moment later.
  if (!is_check && !generation_->descriptor_rules)
    co_return co_await refuse({503, "the rate limit service is not configured"});
  if (!is_check) count_.use(*generation_->counters->routes[options().routes.size()]);
  std::string message;
  std::optional<std::string> watched;
  {
    RateLimitExchange call({.context = context_,
                            .generation = *generation_,
                            .client = client_,
                            .request = request_,
                            .record = recorded_,
                            .begun_at = started_at_,
                            .asked_at = asked_at_,
                            .watched = watched});
    Failure failure = Failure::none;
    if (is_check)
      failure = co_await call.read_check(message);
    else
      failure = co_await call.run();
    if (failure != Failure::none) co_return co_await fail(failure);
  }
  if (watched) {
    HealthWatch watch(context_, client_, *std::move(watched));
    while (co_await watch.next()) {  // perhaps for days, so under the running configuration
      generation_ = Pin(*context_.generation);
      count_.use(*generation_->counters->routes[options().routes.size()]);
    }
    co_return;
  }
  if (recorded_.outcome == limiter::Outcome::denied ||
      recorded_.outcome == limiter::Outcome::forbidden)
    count_.count_denial();
  if (message.empty()) co_return;
  check_ = std::make_unique<CheckCall>(*client_.responder, request_, recorded_);
  client_.responder = check_.get();
  client_.serves = options::Serves::proxy;
  trace_.clear();
  auto refusal = check_->read(std::move(message), options().client_address);
  if (!refusal) refusal = check_->inspect(*generation_->request_rules);
  if (refusal) co_return co_await refuse(*refusal);
  co_await serve();
}

/// From now on the request is counted for its route.
void Exchange::take_route() {
  const auto index = static_cast<std::size_t>(decision_.route() - options().routes.data());
  count_.use(*generation_->counters->routes[index]);
}

/// Does what a route needs before it decides. False: the request is answered.
loop::Task<bool> Exchange::prepare() {
  // The report of another proxy is not a request to decide.
  if ((decision_.routes().needs() & options::needs_settlements) != 0) {
    const auto report = decision::read_hold_report(request_.view);
    if (request_.demands_tunnel())
      co_await refuse(no_tunnel);
    else if (!report)
      co_await refuse(report.error());
    else if (hold_.settle_other(*report, request_.fields,
                                generation_->request_rules->limits.policies, recorded_))
      co_await answer({.status = 204});
    else
      co_await refuse(decision::unknown_hold);
    co_return false;
  }
  if ((decision_.routes().needs() & options::needs_body) != 0) {
    const Duration timeout =
        bounded_wait(options().downstream.body_timeout, deadline_of(request_, started_at_),
                     context_.pass_clock.now());
    Failure failure =
        co_await stated_.read(request_, client_, timeout, decision_.routes().gathered());
    if (failure == Failure::body_timed_out && is_late(request_, started_at_, context_.clock.now()))
      failure = Failure::deadline_passed;
    if (failure != Failure::none) co_await fail(failure);
    co_return failure == Failure::none;
  }
  co_return true;
}

/// False: the store will complete the decision later.
bool Exchange::decide() {
  decided_at_ = started_at_;
  if (!decision_.is_limited()) return true;
  asked_at_ = context_.pass_clock.read();
  if (!decision_.decide(*generation_->limiter, store_answer_, asked_at_)) return false;
  conclude();
  return true;
}

/// The store completes within its timeout. The wait is not cut short if the client leaves or the
/// worker stops, because the store writes into the exchange.
loop::Task<> Exchange::await_store() {
  client_.watchdog->disarm(Phase::decide);
  const store::Result result = co_await store_answer_.arrival(context_.io);
  decision_.conclude(*generation_->limiter, result);
  conclude();
}

/// A request that waits for a slot has no decision yet.
void Exchange::conclude() {
  const limiter::Verdict& verdict = decision_.verdict();
  if (verdict.outcome != limiter::Outcome::allowed && decision_.waits()) {
    recorded_.outcome = verdict.outcome;
    return;
  }
  if (verdict.outcome == limiter::Outcome::allowed || decision_.evaluation().has_holds)
    hold_.take(*generation_);
  recorded_.take(verdict, options().response_fields, generation_->request_rules->limits.identities);
  if (decision_.take_refusing_route(options())) take_route();
  decided_at_ = context_.pass_clock.read();
  limiter::count_keys(
      verdict,
      {.route = static_cast<std::size_t>(decision_.route() - options().routes.data()),
       .client = request_.client,
       .arrived_at = started_at_,
       .now = decided_at_},
      {.limiter = *generation_->limiter,
       .ids = generation_->name_ids,
       .given = context_.retry_after,
       .keys = context_.top_keys});
  if (!generation_->event_percents.empty())
    limiter::raise_events(
        verdict, generation_->event_percents,
        {.limiter = *generation_->limiter, .ids = generation_->name_ids, .asked_at = asked_at_},
        context_.quota_events);
  recorded_.took = decided_at_ - asked_at_;
  context_.counters.decision_duration[static_cast<std::size_t>(verdict.decider)].observe(
      recorded_.took);
}

/// A client that leaves while it waits gives up its place.
loop::Task<> Exchange::wait_for_slot() {
  SlotWait wait({.context = context_,
                 .limiter = *generation_->limiter,
                 .client = client_,
                 .evaluation = decision_.evaluation(),
                 .store_answer = store_answer_,
                 .asked_at = asked_at_,
                 .deadline = deadline_of(request_, started_at_),
                 .record = recorded_});
  co_await wait.run();
  conclude();
  recorded_.queued = wait.waited();
}

/// Sends an answer of Weir with the fields of the route.
loop::Task<> Exchange::answer(OwnAnswer answer) {
  const options::Route* const route = decision_.route();
  if (route != nullptr) answer.edits = in_use(route->response_edits);
  if (answer.status >= 400 && is_answered_as_call(request_, route)) [[unlikely]] {
    counted_status_ = answer.status;
    if (deadline_has_passed_) answer.grpc_status = grpc::Status::deadline_exceeded;
    answer = grpc_answer(answer, recorded_, options().grpc, context_.grpc);
  }
  return client_.responder->answer(answer);
}

loop::Task<> Exchange::refuse(http::Refusal refusal) {
  if (client_.watchdog->aborted() || refusal.status == 0) co_return;
  co_await answer(refusal_answer(refusal, decision_.route(), recorded_, context_.body));
}

/// Answers a request that the limiter refuses, or cannot decide.
loop::Task<> Exchange::answer_undecided() {
  if (client_.watchdog->aborted()) co_return;
  if (recorded_.outcome == limiter::Outcome::forbidden) count_.count_denial();
  if (counts_as_response(recorded_.outcome)) response_status_ = 401;
  const AnswerPhase phase = answer_phase(context_, options().response_fields, request_);
  co_await answer(
      undecided_answer(recorded_, decision_.route(), phase, context_.fields, context_.body));
}

loop::Task<> Exchange::answer_denied() {
  count_.count_denial();
  const AnswerPhase phase = answer_phase(context_, options().response_fields, request_);
  if (recorded_.retry_after) {
    const std::int64_t seconds = http::retry_after_seconds(
        *recorded_.retry_after, phase.options.retry_after_jitter, phase.random);
    const auto& record = generation_->limiter->record_of(*recorded_.policy);
    context_.retry_after.give({.identity = *recorded_.identity, .policy_id = record.id}, phase.now,
                              http::retry_instant(seconds, phase.options.retry_after, phase.now));
  }
  return answer(denial_answer(recorded_, phase, context_.fields, context_.body));
}

/// Answers an admitted request of a route without an upstream.
loop::Task<> Exchange::answer_admitted() {
  const options::Route& route = *decision_.route();
  if (request_.is_tunnel_opened_by(route.respond.status)) return refuse(no_tunnel);
  const http::FieldSection* fields = &route.respond.fields;
  if (route.decide) {
    // Another proxy that has left does not get the id of its hold.
    if (hold_.holds_units() && client_.body->client_has_left())
      return fail(Failure::downstream_gone);
    if (const auto id = hold_.keep(*generation_, route.hold_lease, recorded_)) {
      set_hold_field(*id, context_.fields);
      fields = &context_.fields;
    }
  }
  response_status_ = route.respond.status;
  return answer({.status = route.respond.status,
                 .content_type = route.respond.content_type,
                 .fields = fields,
                 .body = route.respond.body,
                 .limit_fields = &recorded_.limit_fields});
}

ForwardPhase Exchange::forward_phase() {
  forwarded_.begun_at = recorded_.delay > Duration{0} ? context_.pass_clock.now() : decided_at_;
  const options::Route& route = *decision_.route();
  const std::size_t upstream = *route.upstream;
  target_.clear();
  if (!route.rewrite.is_empty())
    route.rewrite.append_target(target_, request_.view.path, request_.view.target);
  return {.context = context_,
          .generation = *generation_,
          .client = client_,
          .request = request_,
          .limit_fields = &recorded_.limit_fields,
          .pool = *generation_->pools[upstream],
          .counters = *generation_->counters->upstreams[upstream],
          .record = forwarded_,
          .count = count_,
          .target = target_,
          .request_edits = in_use(route.request_edits),
          .response_edits = in_use(route.response_edits),
          .meter = hold_.prepare_meter(),
          .deadline = deadline_of(request_, started_at_)};
}

loop::Task<> Exchange::fail(Failure failure) {
  Responder& responder = *client_.responder;
  client_is_gone_ = failure == Failure::downstream_gone;
  deadline_has_passed_ = failure == Failure::deadline_passed;
  if (!responder.has_begun()) co_return co_await refuse(answer_to(failure, forwarded_.http2_error));
  cut_by_ = is_of_upstream(failure) ? log::AbortedBy::upstream : log::AbortedBy::client;
  responder.reset();  // a cut response must not look complete (RFC 9112 section 8)
}

int Exchange::status() const {
  const int status = client_.responder->status();
  if (status != 0) return status;
  if (client_.watchdog->aborted()) return cut_by_shutdown;
  return client_is_gone_ ? client_closed_request : 0;
}

void Exchange::finish() {
  const Instant now = context_.pass_clock.now();
  count_.count(counted_status_.value_or(status()), now);
  count_.count_grpc(client_.responder->grpc_status());
  settle(now);
  log::AccessLog& log = *generation_->access_log;
  const bool is_denied = recorded_.outcome == limiter::Outcome::denied ||
                         recorded_.outcome == limiter::Outcome::forbidden;
  // Before the line is written, because a denied request may get its trace here.
  const bool has_span = options().tracing.records &&
                        trace_.end(request_, is_denied, options().tracing, context_.random);
  if (log.wants(is_denied || recorded_.shadow_denied)) log.write(record(now - started_at_));
  if (has_span) [[unlikely]] {
    context_.spans.add([&](std::string& out) {
      append_span(out, trace_.span(request_, record(now - started_at_), decision_.route()));
    });
  }
}

/// Ends the holds of an admitted request. A client that chooses a short deadline must not avoid the
/// charge by it, as one that leaves; whether Weir or the server ends the call by it.
void Exchange::settle(Instant now) {
  const bool client_has_left = client_is_gone_ || deadline_has_passed_;
  limiter::RequestEnd how{.status = response_status_,
                          .client_has_left = client_has_left && !client_.watchdog->aborted()};
  if (is_answered_as_call(request_, decision_.route())) [[unlikely]] {
    how.is_grpc = true;
    how.grpc_status = grpc_status_of(*client_.responder);
    how.deadline_has_passed = is_late(request_, started_at_, now);
  }
  hold_.settle(*generation_, how, recorded_, now);
  if (copy_.is_open()) [[unlikely]]
    copy_.end(context_.traffic_copy.get(), decision_, recorded_, how, decided_at_, now);
}

log::AccessRecord Exchange::record(Duration took) const {
  return access_record({.request = request_,
                        .routes = decision_.routes(),
                        .decision = recorded_,
                        .forwarded = forwarded_,
                        .client = client_,
                        .limits = generation_->request_rules->limits,
                        .started_at = started_at_,
                        .asked_at = asked_at_,
                        .took = took,
                        .status = status(),
                        .aborted_by = aborted_by(*client_.watchdog, client_is_gone_, cut_by_)});
}

}  // namespace weir::proxy
