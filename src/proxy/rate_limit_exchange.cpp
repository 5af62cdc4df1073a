#include "proxy/rate_limit_exchange.hpp"

#include <algorithm>
#include <utility>

#include "grpc/fields.hpp"
#include "http/problem.hpp"
#include "limiter/key_traffic.hpp"
#include "proxy/delay.hpp"
#include "proxy/exchange_copy.hpp"
#include "proxy/expectation.hpp"
#include "proxy/grpc_call.hpp"
#include "proxy/grpc_message.hpp"
#include "proxy/json_status.hpp"
#include "proxy/rate_limit_methods.hpp"
#include "rls/health_messages.hpp"
#include "rls/json_messages.hpp"
#include "rls/protobuf_messages.hpp"
#include "rls/reservation_messages.hpp"
#include "rules/span.hpp"

namespace weir::proxy {
namespace {

/// The time of a reservation that states none.
constexpr Duration default_ttl = std::chrono::minutes(1);

const http::FieldSection no_store{{"Cache-Control", "no-store"}};

}  // namespace

RateLimitExchange::RateLimitExchange(const Dependencies& dependencies)
    : in_(dependencies),
      memory_(in_.context.take_rate_limit_memory()),
      deadline_(deadline_of(in_.request, in_.begun_at)) {}

/// Units that were held and not kept are released: another limit has denied the call, its deadline
/// has passed, or there was no memory.
RateLimitExchange::~RateLimitExchange() {
  if (grant_.is_open()) {
    in_.generation.limiter->count_settled(memory_->call.held());
    grant_ = {};
  }
  in_.context.give_back(std::move(memory_));
}

loop::Task<Failure> RateLimitExchange::run() {
  return in_.request.is_grpc_call ? serve_grpc() : serve_http();
}

loop::Task<Failure> RateLimitExchange::serve_grpc() {
  if (const Failure failure = co_await read_body(); failure != Failure::none) co_return failure;
  std::string_view message;
  const std::string_view path = in_.request.view.path;
  const Instant called_at = in_.context.pass_clock.now();
  RateLimitCallCounters& counters = in_.context.counters.rate_limit_calls;
  if (!has_room_) {
    co_await refuse(too_many_incomplete);
  } else if (in_.request.view.method != "POST") {
    co_await refuse({grpc::Status::unimplemented, "the method of a call is POST"});
  } else if (const auto fault =
                 read_grpc_message(memory_->body, rls::most_message_bytes, message)) {
    co_await refuse({fault->status, fault->reason});
  } else if (path == should_rate_limit) {
    co_await call(rls::Method::decide, message);
    count_call(counters.should_rate_limit, called_at);
  } else if (path == kuadrant_check) {
    co_await call(rls::Method::check, message);
  } else if (path == kuadrant_report) {
    co_await call(rls::Method::report, message);
  } else if (path == kuadrant_reserve) {
    co_await reserve(message);
  } else if (path == kuadrant_commit) {
    co_await commit(message);
  } else if (path == health_check) {
    co_await check_health(message);
    count_call(counters.check_health, called_at);
  } else if (path == health_watch) {
    co_await watch_health(message);
  } else {
    co_await refuse({grpc::Status::unimplemented, "the rate limit service has no such method"});
  }
  co_return Failure::none;
}

loop::Task<Failure> RateLimitExchange::read_check(std::string& message) {
  message.clear();
  if (const Failure failure = co_await read_body(); failure != Failure::none) co_return failure;
  if (!has_room_) {
    co_await refuse(too_many_incomplete);
    co_return Failure::none;
  }
  std::string_view view;
  if (const auto fault = read_grpc_message(memory_->body, rls::most_message_bytes, view)) {
    if (fault->status == grpc::Status::resource_exhausted)
      message = memory_->body;
    else
      co_await refuse({fault->status, fault->reason});
    co_return Failure::none;
  }
  if (view.empty())
    co_await refuse({grpc::Status::invalid_argument, "the message describes no request"});
  message = view;
  co_return Failure::none;
}

loop::Task<Failure> RateLimitExchange::serve_http() {
  const http::RequestView& request = in_.request.view;
  if (request.path == health_path) {
    const bool is_serving = !in_.context.stopping;
    co_await answer_text(is_serving ? 200 : 503, is_serving ? "OK" : "draining");
    co_return Failure::none;
  }
  if (request.path != json_path) {
    co_await answer_text(404,
                         "the rate limit service has POST /json, GET /healthcheck and gRPC "
                         "over HTTP/2");
    co_return Failure::none;
  }
  if (request.method != "POST") {
    co_await answer_text(405, "use POST");
    co_return Failure::none;
  }
  if (const Failure failure = co_await read_body(); failure != Failure::none) co_return failure;
  if (!has_room_) {
    co_await answer_text(503, too_many_incomplete.reason);
    co_return Failure::none;
  }
  if (memory_->body.size() > rls::most_message_bytes) {
    co_await answer_text(413, "the message is longer than 65536 bytes");
    co_return Failure::none;
  }
  rls::Request& message = memory_->call.request();
  if (const std::string reason = rls::read_json(memory_->body, message); !reason.empty()) {
    co_await answer_text(400, reason);
    co_return Failure::none;
  }
  if (const auto refusal = co_await decide(rls::Method::decide, memory_->body)) {
    co_await answer_text(json_status_of(refusal->status), refusal->reason);
    co_return Failure::none;
  }
  memory_->message.clear();
  rls::append_json(memory_->message, memory_->response);
  co_await in_.client.responder->answer(
      {.status = memory_->response.overall_code == rls::Code::over_limit ? 429 : 200,
       .content_type = "application/json",
       .fields = &no_store,
       .body = memory_->message});
  co_return Failure::none;
}

/// Reads the whole body, but not more than a message may have, and while it is incomplete not more
/// than the budget of the worker has.
loop::Task<Failure> RateLimitExchange::read_body() {
  RequestBody& body = *in_.client.body;
  Watchdog& watchdog = *in_.client.watchdog;
  std::string& bytes = memory_->body;
  bytes.clear();
  BodyBudget::Share kept(in_.context.incomplete_calls);
  bool is_awaited = expects_continue(in_.request);
  std::string_view piece;
  for (;;) {
    const BodyState state = body.pull(piece);
    if (state == BodyState::ended) co_return Failure::none;
    if (state == BodyState::malformed) co_return Failure::body_malformed;
    if (state == BodyState::payload) {
      bytes.append(piece);
      if (bytes.size() > rls::most_message_bytes + grpc_prefix_size) co_return Failure::none;
      continue;
    }
    has_room_ = kept.set(bytes.size());
    if (!has_room_) co_return Failure::none;
    // A part of the body shows that the client does not wait.
    if (std::exchange(is_awaited, false) && bytes.empty() &&
        co_await send_continue(*in_.client.responder))
      co_return Failure::downstream_gone;
    watchdog.arm(Phase::body, in_.generation.options.downstream.body_timeout);
    const error_code ec = co_await body.fill();
    if (watchdog.timed_out()) co_return Failure::body_timed_out;
    if (ec || watchdog.aborted()) co_return Failure::downstream_gone;
  }
}

const RateLimitExchange::Refusal RateLimitExchange::too_many_incomplete{
    grpc::Status::resource_exhausted,
    "too many messages arrive slowly; send each message at once, or try again later"};

const RateLimitExchange::Refusal RateLimitExchange::too_late{grpc::Status::deadline_exceeded,
                                                             "the deadline of the call has passed"};

const RateLimitExchange::Refusal RateLimitExchange::client_has_left{
    grpc::Status::cancelled, "the client has left before its turn"};

const RateLimitExchange::Refusal RateLimitExchange::reservations_are_off{
    grpc::Status::failed_precondition,
    "reservations are off; set rate_limit_service.reservations: true"};

loop::Task<> RateLimitExchange::call(rls::Method method, std::string_view message) {
  rls::Request& request = memory_->call.request();
  if (const std::string_view reason = rls::read_protobuf(message, request); !reason.empty())
    co_return co_await refuse({grpc::Status::invalid_argument, reason});
  if (const auto refusal = co_await decide(method, message)) co_return co_await refuse(*refusal);
  begin_grpc_message(memory_->message);
  rls::append_protobuf(memory_->message, memory_->response);
  co_await answer_message();
}

/// Holds the units of an admitted request until Commit, or until their time is over.
loop::Task<> RateLimitExchange::reserve(std::string_view message) {
  if (!in_.generation.descriptor_rules->options().reservations)
    co_return co_await refuse(reservations_are_off);
  rls::Reservation reservation;
  rls::RateLimitCall& call = memory_->call;
  if (const auto reason = rls::read_reserve(message, call.request(), reservation); !reason.empty())
    co_return co_await refuse({grpc::Status::invalid_argument, reason});
  if (const auto refusal = co_await decide(rls::Method::reserve, message))
    co_return co_await refuse(*refusal);
  std::string id;
  if (memory_->response.overall_code == rls::Code::ok && call.decisions() > 0) {
    const Duration ttl = reservation.ttl == Duration{0} ? default_ttl : reservation.ttl;
    id.reserve(2 * sizeof(Hash128));
    const auto hold = in_.context.holds.keep(call.held(), in_.generation, ttl);
    if (!hold)
      co_return co_await refuse(
          {grpc::Status::resource_exhausted, "too many reservations are open"});
    grant_.release();
    append_hex(id, *hold);
  }
  begin_grpc_message(memory_->message);
  rls::append_reserve_response(memory_->message, memory_->response.overall_code, id);
  co_await answer_message();
}

/// Charges what a reservation has cost. If it is not found, for example because its time is over,
/// the descriptors of the request are charged.
loop::Task<> RateLimitExchange::commit(std::string_view message) {
  if (!in_.generation.descriptor_rules->options().reservations)
    co_return co_await refuse(reservations_are_off);
  rls::Reservation reservation;
  if (const auto reason = rls::read_commit(message, memory_->call.request(), reservation);
      !reason.empty())
    co_return co_await refuse({grpc::Status::invalid_argument, reason});
  const auto units = static_cast<std::int64_t>(
      std::min(reservation.amount, static_cast<std::uint64_t>(rules::exact_limit)));
  const auto id = hash_from_hex(reservation.id);
  const bool is_settled = id && in_.context.holds.settle(*id, [&](limiter::HeldUnits& held) {
    for (store::Settlement& settlement : held.settlements)
      settlement.actual = units;
    if (!held.limits.empty())
      in_.record.reported(held, in_.generation.request_rules->limits.policies);
  });
  if (!is_settled) {
    if (const auto refusal = co_await decide(rls::Method::report, {}))
      co_return co_await refuse(*refusal);
  }
  begin_grpc_message(memory_->message);
  rls::append_commit_response(memory_->message, is_settled);
  co_await answer_message();
}

/// Decides the request that has been read from `message`. Empty: the response is made.
loop::Task<std::optional<RateLimitExchange::Refusal>> RateLimitExchange::decide(
    rls::Method method, std::string_view message) {
  rls::RateLimitCall& call = memory_->call;
  const Instant asked_at = in_.asked_at = in_.context.pass_clock.read();
  const rls::CallRules rules{
      .descriptors = *in_.generation.descriptor_rules,
      .limits = in_.generation.request_rules->limits,
      .values = {
          .client = in_.generation.options.client_address,
          .path_ignores_case = in_.generation.options.path_variants.letter_case,
          .path_ignores_trailing_slash = in_.generation.options.path_variants.trailing_slash}};
  RateLimitCallCounters& counters = in_.context.counters.rate_limit_calls;
  if (const auto invalid = call.prepare(rules, method, *in_.generation.limiter)) {
    copy(method, message, false);
    if (method == rls::Method::decide && invalid->status == grpc::Status::unknown)
      counters.invalid.add();
    co_return Refusal{invalid->status, invalid->reason};
  }
  memory_->pending.clear();
  in_.client.watchdog->disarm(Phase::decide);
  for (std::size_t i = 0; i < call.decisions(); ++i) {
    if (call.decide(i, memory_->answers.at(i), asked_at)) continue;
    memory_->answers.expect();
    memory_->pending.push_back(i);
  }
  if (!memory_->pending.empty()) co_await memory_->answers.arrival();
  for (const std::size_t i : memory_->pending)
    call.conclude(i, memory_->answers.at(i).result);
  if (method == rls::Method::reserve && call.decisions() > 0)
    grant_ = Grant(in_.generation.limiter->store(), in_.context.clock, call.held().settlements);
  in_.record.took = in_.context.pass_clock.read() - asked_at;
  const bool is_too_late = is_late();
  if (!is_too_late && call.settle(memory_->answers.at(0), in_.context.pass_clock.now())) {
    memory_->answers.expect();
    co_await memory_->answers.arrival();
    call.conclude_rest(memory_->answers.at(0).result);
  }
  const limiter::Verdict& verdict = call.verdict(in_.context.pass_clock.now());
  count(verdict);
  copy(method, message, call.is_overridden());
  in_.context.counters.decision_duration[static_cast<std::size_t>(verdict.decider)].observe(
      in_.record.took);
  if (verdict.outcome == limiter::Outcome::failed && method == rls::Method::decide)
    counters.undecided.add();
  if (is_too_late) co_return too_late;
  if (verdict.outcome == limiter::Outcome::failed)
    co_return Refusal{grpc::Status::unavailable, "the store cannot be reached; try again later"};
  memory_->response.clear();
  call.answer(memory_->response, in_.context.pass_clock.now());
  add_headers(verdict);
  const bool waits = (method == rls::Method::decide || method == rls::Method::reserve) &&
                     memory_->response.overall_code == rls::Code::ok;
  if (!waits) in_.record.delay = Duration{0};
  if (in_.record.delay == Duration{0}) co_return std::nullopt;
  if (deadline_ && in_.context.pass_clock.read() + in_.record.delay >= *deadline_)
    co_return too_late;
  co_await wait_delay(in_.context, in_.client, in_.record.delay);
  if (in_.client.watchdog->aborted() || in_.client.watchdog->interruptions().client_left)
    co_return client_has_left;
  co_return std::nullopt;
}

/// Counts a call that has been answered, for reference_metrics: other metrics have no method.
void RateLimitExchange::count_call(MethodCounters& method, Instant called_at) const {
  if (!in_.generation.descriptor_rules->options().reference_metrics) return;
  method.requests.add();
  method.duration.observe(in_.context.pass_clock.read() - called_at);
}

/// Copies the call for a configuration in shadow.
void RateLimitExchange::copy(rls::Method method, std::string_view message, bool is_overridden) {
  if (!in_.context.traffic_copy) [[likely]]
    return;
  copy_call(*in_.context.traffic_copy, {.method = method,
                                        .is_grpc = in_.request.is_grpc_call,
                                        .message = message,
                                        .is_overridden = is_overridden,
                                        .at = in_.asked_at});
}

void RateLimitExchange::count(const limiter::Verdict& verdict) {
  Generation& generation = in_.generation;
  if (verdict.outcome != limiter::Outcome::failed)
    memory_->call.count_hits(in_.context.counters.named_hits);
  in_.record.take(verdict, generation.descriptor_rules->options().headers,
                  generation.request_rules->limits.identities);
  limiter::count_keys(verdict,
                      {.route = generation.options.routes.size(),
                       .client = in_.request.client,
                       .arrived_at = in_.begun_at,
                       .now = in_.context.pass_clock.now()},
                      {.limiter = *generation.limiter,
                       .ids = generation.name_ids,
                       .given = in_.context.retry_after,
                       .keys = in_.context.top_keys});
  if (!generation.event_percents.empty())
    limiter::raise_events(
        verdict, generation.event_percents,
        {.limiter = *generation.limiter, .ids = generation.name_ids, .asked_at = in_.begun_at},
        in_.context.quota_events);
}

/// The RateLimit fields for the response of the proxy that asks, and Retry-After of a denial.
void RateLimitExchange::add_headers(const limiter::Verdict& verdict) {
  http::FieldSection& to = memory_->response.response_headers_to_add;
  to.add(in_.record.limit_fields);
  if (memory_->response.overall_code != rls::Code::over_limit || !verdict.retry_after) return;
  const options::Proxy& options = in_.generation.options;
  const std::int64_t seconds = http::retry_after_seconds(
      *verdict.retry_after, options.response_fields.retry_after_jitter, in_.context.random.next());
  const Instant now = in_.context.pass_clock.now();
  http::add_retry_after(to, seconds, options.response_fields.retry_after, now);
  if (!in_.record.identity) return;
  const auto& policy = in_.generation.limiter->record_of(*verdict.deciding);
  in_.context.retry_after.give(
      {.identity = *in_.record.identity, .policy_id = policy.id}, now,
      http::retry_instant(seconds, options.response_fields.retry_after, now));
}

bool RateLimitExchange::is_late() const {
  return deadline_ && in_.context.pass_clock.read() >= *deadline_;
}

loop::Task<> RateLimitExchange::answer_message() {
  end_grpc_message(memory_->message);
  memory_->trailers.clear();
  memory_->trailers.add("grpc-status", "0");
  return in_.client.responder->answer({.status = 200,
                                       .content_type = grpc::content_type,
                                       .body = memory_->message,
                                       .trailers = &memory_->trailers});
}

loop::Task<> RateLimitExchange::refuse(Refusal refusal) {
  const OwnAnswer answer{.status = json_status_of(refusal.status),
                         .detail = refusal.reason,
                         .grpc_status = refusal.status};
  return in_.client.responder->answer(
      grpc_answer(answer, in_.record, in_.generation.options.grpc, memory_->grpc));
}

loop::Task<> RateLimitExchange::answer_text(int status, std::string_view text) {
  std::string& body = memory_->message;
  body.clear();
  if (status < 400) {
    body = text;
  } else {
    http::append_problem(body, status, text);
  }
  return in_.client.responder->answer(
      {.status = status,
       .content_type = status < 400 ? "text/plain" : "application/problem+json",
       .fields = &no_store,
       .body = body});
}

loop::Task<> RateLimitExchange::check_health(std::string_view message) {
  rls::HealthCheckRequest request;
  if (const auto reason = rls::read_protobuf(message, request); !reason.empty())
    return refuse({grpc::Status::invalid_argument, reason});
  const rls::ServingStatus status = rls::status_of(request.service, in_.context.stopping);
  if (status == rls::ServingStatus::service_unknown)
    return refuse({grpc::Status::not_found, "the service has no health status"});
  begin_grpc_message(memory_->message);
  rls::append_protobuf(memory_->message, status);
  return answer_message();
}

/// The bytes of the message of a Watch, which has one name.
constexpr std::size_t most_watched_bytes = 260;

const RateLimitExchange::Refusal RateLimitExchange::name_is_too_long{
    grpc::Status::invalid_argument, "the name of the service is longer than 256 bytes"};

/// Leaves the rest of the call to a HealthWatch, because it outlives the configuration. It may last
/// for days, so the message that it keeps is small.
loop::Task<> RateLimitExchange::watch_health(std::string_view message) {
  if (message.size() > most_watched_bytes) co_return co_await refuse(name_is_too_long);
  rls::HealthCheckRequest request;
  if (const auto reason = rls::read_protobuf(message, request); !reason.empty())
    co_return co_await refuse({grpc::Status::invalid_argument, reason});
  in_.watched.emplace(request.service);
}

}  // namespace weir::proxy
