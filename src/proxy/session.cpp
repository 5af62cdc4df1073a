#include "proxy/session.hpp"

#include <algorithm>
#include <utility>

#include <boost/container/static_vector.hpp>

#include "identity/client_address.hpp"
#include "proxy/head_inspection.hpp"
#include "proxy/ticks.hpp"

namespace weir::proxy {
namespace {

constexpr Duration linger_timeout = std::chrono::seconds(2);
constexpr std::size_t linger_limit = 1024 * 1024;
constexpr Duration drain_grace = std::chrono::seconds(1);
constexpr Duration drain_handshake = std::chrono::seconds(5);

}  // namespace

void Session::start(Context& context, ListenerSessions& listener, Socket socket,
                    const identity::IpAddress& peer, const Manner& manner) {
  auto session = std::make_unique<Session>(context, listener, std::move(socket), peer, false);
  Task<> task = session->run(manner);
  spawn(context.io, guard(std::move(session), std::move(task)));
}

void Session::turn_away(Context& context, ListenerSessions& listener, Socket socket,
                        const identity::IpAddress& peer) {
  auto session = std::make_unique<Session>(context, listener, std::move(socket), peer, true);
  Task<> task = session->refuse();
  spawn(context.io, guard(std::move(session), std::move(task)));
}

/// Errors are values. What is thrown all the same, for lack of memory or by a fault of ours, ends
/// this connection and no other.
Task<> Session::guard(std::unique_ptr<Session> session, Task<> task) {
  try {
    Task<> ends_first = std::move(task);
    co_await ends_first;
  } catch (const std::exception& thrown) {
    session->give_up(thrown);
  }
}

/// What is cut must not look complete to either side.
void Session::give_up(const std::exception& thrown) {
  context_.warn_of(thrown, "a connection was given up");
  stream_.reset();
  if (upstream_) upstream_->stream.reset();
}

Session::Session(Context& context, ListenerSessions& listener, Socket socket,
                 const identity::IpAddress& peer, bool refused)
    : context_(context),
      listener_(listener),
      stream_(std::move(socket)),
      peer_(peer),
      peer_is_trusted_(is_trusted(peer)),
      trusted_by_(context.generation->number),
      refused_(refused),
      number_(context.session_count++),
      index_(context.sessions.size()) {
  context_.sessions.push_back(this);
  ++listener_.count;
  (refused_ ? context_.open_refusals : context_.open_connections)
      .fetch_add(1, std::memory_order_relaxed);
  context_.counters.connections.add(1);
}

Session::~Session() {
  upstream_.reset();  // before the generation that its server is of
  if (exchange_) context_.give_back(std::move(exchange_));
  if (body_input_) context_.give_back(std::move(body_input_));
  if (has_own_upstreams_) context_.close_idle_of(number_);
  context_.sessions.back()->index_ = index_;
  std::swap(context_.sessions[index_], context_.sessions.back());
  context_.sessions.pop_back();
  --listener_.count;
  context_.counters.connections.add(-1);
  (refused_ ? context_.open_refusals : context_.open_connections)
      .fetch_sub(1, std::memory_order_relaxed);
  if (context_.draining && context_.sessions.empty() && context_.when_empty) context_.when_empty();
}

Task<> Session::run(Manner manner) {
  if (!manner.begins_with_request()) {
    const Opening opening = co_await open(manner);
    if (opening == Opening::closed) co_return;
    if (opening == Opening::plain) co_return co_await refuse_plain();
  }
  for (;;) {
    if (const Failure failure = co_await read_head(); failure != Failure::none) {
      if (answer_to(failure).status == 0) co_return;
      co_await answer(answer_to(failure));
    } else {
      co_await serve();
    }
    finish();
    if (!exchange_->keep_alive) break;
    if (has_rest_of_body() && !co_await discard_body()) break;
  }
  co_await linger();
}

Task<> Session::refuse() {
  begin_exchange();
  co_await answer(answer_to(Failure::overloaded));
  finish();
  co_await linger();
}

/// An idle connection has none.
void Session::begin_exchange() {
  exchange_ = context_.take_exchange();
  generation_ = context_.generation.get();
  exchange_->generation = Pin(*generation_);
  if (trusted_by_ != generation().number) {
    peer_is_trusted_ = is_trusted(peer_);
    trusted_by_ = generation().number;
  }
  exchange_->started_at = context_.clock.now();
  exchange_->client = peer_;
}

bool Session::is_trusted(const identity::IpAddress& peer) const {
  return identity::is_trusted(context_.generation->config.client_address, peer);
}

Task<> Session::serve() {
  if (const MaybeRefusal refusal = inspect_head()) co_return co_await answer(*refusal);
  if (const MaybeRefusal refusal = find_route()) co_return co_await answer(*refusal);

  if (!decide()) co_await await_store();
  if (exchange_->outcome == limiter::Outcome::identity_required)
    co_return co_await answer(answer_to(Failure::identity_required));
  if (exchange_->outcome == limiter::Outcome::too_many_limits)
    co_return co_await answer(answer_to(Failure::too_many_limits));
  if (exchange_->outcome == limiter::Outcome::identity_ambiguous)
    co_return co_await answer_ambiguous();
  if (exchange_->outcome == limiter::Outcome::failed)
    co_return co_await answer(answer_to(Failure::store_failed));
  if (exchange_->outcome == limiter::Outcome::denied) co_return co_await answer_denied();
  if (exchange_->delay > Duration{0} && !aborted_) co_await wait_delay();
  if (aborted_) co_return void(exchange_->keep_alive = false);

  if (exchange_->route->upstream) co_return co_await forward();
  co_await answer_fixed();
}

Session::MaybeRefusal Session::find_route() {
  const Settings& config = settings();
  const routing::PeerRules peer{.is_trusted = peer_is_trusted_,
                                .raw = raw_bytes(config.downstream),
                                .max_target = config.downstream.max_target};
  routing::RoutedRequest& routed = exchange_->routed;
  if (const MaybeRefusal refusal = routing::find_routes(generation().blueprint->route_table,
                                                        exchange_->request, peer, routed))
    return refusal;
  if (routed.candidates.empty()) return answer_to(Failure::no_route);
  exchange_->route = &config.routes[routed.candidates.front().route];
  exchange_->evidence.gather(routed, std::span(config.routes),
                             {.address = exchange_->client,
                              .settings = config.client_address,
                              .path_variants = config.path_variants});
  return std::nullopt;
}

/// False: the store will complete later.
bool Session::decide() {
  exchange_->asked_at = exchange_->decided_at = exchange_->started_at;
  const auto routes = exchange_->evidence.routes();
  if (routes.empty()) return true;
  exchange_->asked_at = context_.clock.now();
  const limiter::Verdict* const verdict = generation_->limiter->decide(
      exchange_->evaluation, routes, exchange_->store_answer, exchange_->asked_at);
  if (verdict != nullptr) conclude(*verdict);
  return verdict != nullptr;
}

/// The store completes within its timeout, and is waited for even if the client leaves or the
/// worker stops: it writes into the exchange.
Task<> Session::await_store() {
  context_.wheel.disarm(*this);
  phase_ = Phase::decide;
  const store::Result result = co_await exchange_->store_answer.arrival(context_.io);
  conclude(generation_->limiter->conclude(exchange_->evaluation, result));
}

void Session::conclude(const limiter::Verdict& verdict) {
  if (verdict.outcome == limiter::Outcome::allowed)
    exchange_->grant = generation_->limiter->grant(context_.clock);
  report(verdict);
  exchange_->decided_at = context_.clock.now();
  exchange_->decision_took = exchange_->decided_at - exchange_->asked_at;
  context_.counters.decision_duration[static_cast<std::size_t>(verdict.decider)].observe(
      exchange_->decision_took);
}

/// Keeps what the answer and the log need.
void Session::report(const limiter::Verdict& verdict) {
  exchange_->outcome = verdict.outcome;
  exchange_->ambiguity = verdict.ambiguity;
  exchange_->decider = verdict.decider;
  exchange_->shadow_denied = verdict.shadow_denied;
  exchange_->delay = verdict.delay;
  exchange_->retry_after = verdict.retry_after;
  exchange_->policy = verdict.deciding;
  if (verdict.outcome == limiter::Outcome::identity_required)
    exchange_->route = &settings().routes[exchange_->routed.candidates[*verdict.route].route];
  boost::container::static_vector<http::PolicyReport, limiter::limits_per_route> reports;
  for (const auto& limit : verdict.limits) {
    const auto& decision = limit.decision;
    if (limit.policy == verdict.deciding) {
      exchange_->identity = limit.identity;
      exchange_->cost = limit.cost;
      exchange_->remaining = decision.remaining;
    }
    if (!limit.policy->visible) continue;
    if (!decision.allowed && !limit.policy->shadow)
      exchange_->violated.push_back(limit.policy->name);
    reports.push_back({.policy_item = limit.policy->policy_item,
                       .name_item = limit.policy->name_item,
                       .limit = decision.limit,
                       .remaining = decision.remaining,
                       .reset_after = decision.reset_after,
                       .more_after = decision.more_after,
                       .partition = limit.identity});
  }
  http::append_rate_limit_fields(exchange_->limit_fields, {reports.data(), reports.size()},
                                 settings().response_fields);
}

Task<> Session::wait_delay() {
  error_code ec;
  Timer timer(context_.io.get_executor(), exchange_->delay);
  context_.wheel.disarm(*this);
  phase_ = Phase::delay;
  delay_ = &timer;
  co_await timer.async_wait(into(ec));
  delay_ = nullptr;
}

void Session::count() {
  const auto& routes = settings().routes;
  const std::size_t route = exchange_->route == nullptr
                                ? routes.size()
                                : static_cast<std::size_t>(exchange_->route - routes.data());
  const Duration took = context_.clock.now() - exchange_->started_at;
  if (exchange_->status != 0) generation().counters->routes[route]->count(exchange_->status, took);
  exchange_->is_counted = true;
}

void Session::finish() {
  if (!exchange_->is_counted) count();
  const Instant now = context_.clock.now();
  exchange_->grant.settle(now);
  const Duration took = now - exchange_->started_at;
  AccessLog& log = *generation().access_log;
  if (log.wants(exchange_->outcome == limiter::Outcome::denied || exchange_->shadow_denied))
    log.write(record_of(*exchange_, took));
}

void Session::arm(Phase phase, Duration timeout) {
  phase_ = phase;
  timed_out_ = false;
  context_.wheel.arm(*this, ticks_in(timeout));
}

/// Fires again each tick until something else is waited for: a cancellation that meets an operation
/// on its way to completion is lost.
void Session::on_deadline() {
  timed_out_ = true;
  context_.wheel.arm(*this, 0);
  if (upstream_) upstream_->stream.cancel();
  if (handshake_ != nullptr) handshake_->give_up();
  if (phase_ != Phase::connect && phase_ != Phase::response) stream_.cancel();
}

void Session::look_after_client() {
  if (phase_ != Phase::response && phase_ != Phase::relay) return;
  client_left_ = stream_.has_ended();
  if (client_left_) upstream_->stream.cancel();
}

void Session::drain() {
  if (phase_ == Phase::idle) arm(Phase::idle, drain_grace);
  // Nor is a request under way here, but a handshake may be.
  if (phase_ == Phase::open && !timed_out_)
    arm(Phase::open,
        std::min(drain_handshake, context_.generation->config.downstream.head_timeout));
}

void Session::abort() {
  aborted_ = true;
  if (delay_ != nullptr) delay_->cancel();
  if (handshake_ != nullptr) handshake_->give_up();
  if (upstream_) upstream_->stream.close();
  stream_.close();
}

Task<error_code> Session::flush(Stream& stream) {
  arm(Phase::body, settings().downstream.body_timeout);
  co_return co_await stream.flush();
}

Task<error_code> Session::send(std::string_view data) {
  error_code ec;
  exchange_->bytes_out += data.size();
  stream_.try_write(data, ec);
  if (stream_.has_unsent()) ec = co_await flush(stream_);
  co_return ec;
}

bool Session::has_rest_of_body() const {
  return body_input_ || !exchange_->body_is_read;
}

/// The next request begins where this one's body ends: reads what is left of it. False if that is
/// too much or does not come.
Task<bool> Session::discard_body() {
  if (body_input_) {
    input_.append(body_input_->data());
    context_.give_back(std::move(body_input_));
  }
  if (exchange_->body_is_read) co_return true;
  BodySource source(stream_, input_, exchange_->body);
  std::string_view piece;
  std::size_t discarded = 0;
  while (discarded <= settings().downstream.max_drain) {
    const auto state = source.pull(piece);
    if (state == BodySource::State::ended) co_return true;
    if (state == BodySource::State::malformed) co_return false;
    discarded += piece.size();
    if (state == BodySource::State::payload) continue;
    arm(Phase::linger, settings().downstream.body_timeout);
    if (co_await source.fill()) co_return false;
  }
  co_return false;
}

/// Lets the client read the answer before the connection goes: closing over unread bytes resets it
/// and may take the answer away (RFC 9112 section 9.6). So what it still sends is read and dropped,
/// for a moment.
Task<> Session::linger() {
  if (aborted_ || !stream_.is_open()) co_return;
  const bool is_read = exchange_->body_is_read && input_.empty() && !stream_.has_unread();
  if (is_read && !stream_.is_secure()) co_return;
  error_code ec;
  stream_.shutdown_send();
  if (is_read) co_return;
  arm(Phase::linger, linger_timeout);
  for (std::size_t dropped = 0; !ec && !timed_out_ && dropped < linger_limit;) {
    input_.consume(input_.data().size());
    dropped += co_await stream_.async_read_some(
        asio::buffer(input_.free_begin(), input_.free_size()), into(ec));
  }
}

}  // namespace weir::proxy
