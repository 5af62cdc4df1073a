#include "replay/run.hpp"

#include <algorithm>
#include <string>

namespace weir::replay {

using Event = offline::Instance::Event;
using State = offline::Request::State;

namespace {

/// How late a worker may take the step of a request that waits, while the log is reproduced: the
/// interval at which it asks. The steps of another configuration would have been at other
/// instants, so few of the log count then.
constexpr Duration latest_step = std::chrono::milliseconds(100);
constexpr Duration latest_step_of_another = std::chrono::milliseconds(10);

/// When the request leaves the queue, whether or not it has a slot then.
std::optional<Instant> gives_up_at(const Arrival& arrival) {
  const Arrival::Logged& logged = arrival.logged;
  if (arrival.is_own && logged.was_interrupted && logged.decision == "denied" &&
      !logged.queue_steps.empty())
    return logged.queue_steps.back();
  return arrival.client_has_left ? arrival.ends_at : std::nullopt;
}

bool is_denied(const offline::Request& request) {
  return request.state() == State::decided &&
         (request.verdict().outcome == limiter::Outcome::denied ||
          request.verdict().outcome == limiter::Outcome::forbidden);
}

/// As proxy::decision_of; the words of the access log.
std::string_view word_of(const offline::Request& request) {
  using limiter::Outcome;
  const limiter::Verdict& verdict = request.verdict();
  switch (verdict.outcome) {
    case Outcome::unlimited:
      return {};
    case Outcome::denied:
    case Outcome::forbidden:
      return "denied";
    case Outcome::allowed:
      break;
    default:
      return "error";
  }
  if (verdict.shadow_denied) return "shadow_denied";
  return request.passed_at() > request.arrived_at() ? "delayed" : "allowed";
}

/// `denied by p, 0 left`
std::string text_of(std::string_view decision, std::string_view policy,
                    std::optional<std::int64_t> remaining) {
  std::string text(decision.empty() ? "not limited" : decision);
  if (!policy.empty()) text.append(" by ").append(policy);
  if (remaining) text.append(", ").append(std::to_string(*remaining)).append(" left");
  return text;
}

/// The same of a request that was replayed.
std::string text_of(const offline::Request& request) {
  if (request.state() != State::decided) return "refused";
  const limiter::Verdict& verdict = request.verdict();
  std::optional<std::int64_t> remaining;
  for (const limiter::LimitVerdict& limit : verdict.limits) {
    if (limit.policy == verdict.deciding) remaining = limit.decision.remaining;
  }
  return text_of(word_of(request),
                 verdict.deciding == nullptr ? std::string_view() : verdict.deciding->name,
                 remaining);
}

}  // namespace

Run::Run(const options::Proxy& proxy, const limiter::Options& limits,
         const store::MemoryStoreOptions& store, const Options& options)
    : limits_(limits),
      proxy_(proxy),
      instance_(proxy, limits, store),
      use_(proxy, limits),
      study_(proxy, limits, options.max_denied.has_value()),
      max_denied_(options.max_denied),
      absent_(limits.identities.size()) {
  if (options.other != nullptr)
    flips_.emplace(offline::Comparison::Configuration{.proxy = proxy, .limits = limits},
                   *options.other, store);
}

void Run::receive(const Arrival& arrival) {
  if (!has_begun_) totals_.first_at = now_ = arrival.at;
  has_begun_ = true;
  totals_.late += arrival.at < now_ ? 1 : 0;
  now_ = std::max(now_, arrival.at);
  totals_.last_at = now_;
  if (arrival.peer == IpAddress()) ++totals_.without_client;
  // Weir reads its clock when it decides, and later in the same pass of the loop requests may end
  // at that reading.
  take_events(arrival.is_own ? now_ - Duration{1} : now_);
  if (arrival.head.empty()) {
    ++(arrival.is_service_call ? totals_.outcomes.service_calls : totals_.outcomes.malformed);
    return count_at(now_, false);
  }
  if (flips_) flips_->receive(arrival, now_);
  const std::uint64_t label = take_label();
  InProgress& one = in_progress_[label];
  one.how = arrival.end();
  one.ends_at = arrival.ends_at;
  one.is_own = arrival.is_own;
  if (arrival.is_own) one.logged = arrival.logged;
  one.file = arrival.file;
  one.line = arrival.line;
  trace_.limits.clear();
  offline::Arrival received{.head = arrival.head,
                            .peer = arrival.peer,
                            .label = label,
                            .peer_is_trusted = arrival.is_own};
  if (arrival.is_own) {
    received.steps = arrival.logged.queue_steps;
    received.latest_step =
        totals_.reproduction.different == 0 ? latest_step : latest_step_of_another;
  }
  offline::Request& request = instance_.receive(received, now_, &trace_);
  count_absent();
  study(request, arrival);
  if (request.state() != State::waiting) return decided(request, now_);
  if (const auto at = gives_up_at(arrival)) instance_.end_at(request, *at);
  take_events(now_);
}

void Run::receive_ahead(const Arrival& arrival) {
  ++totals_.ahead;
  is_ahead_ = true;
  receive(arrival);
}

void Run::finish() {
  take_events(Instant::max());
  if (flips_) flips_->finish();
}

void Run::take_events(Instant until) {
  while (const auto event = instance_.next(until)) {
    offline::Request& request = *event->request;
    if (event->kind == Event::Kind::decided) {
      decided(request, event->at);
    } else if (request.state() == State::waiting) {
      instance_.give_up(request, event->at);
      count(request);
      end(request, event->at);
    } else {
      end(request, event->at);
    }
  }
}

void Run::decided(offline::Request& request, Instant now) {
  count(request);
  const InProgress& one = in_progress_[request.label()];
  const Instant ends_at =
      request.is_admitted() ? std::max(request.passed_at(), one.ends_at.value_or(now)) : now;
  if (ends_at <= now || !request.holds_units()) return end(request, now);
  instance_.end_at(request, ends_at);
}

void Run::end(offline::Request& request, Instant now) {
  const InProgress& one = in_progress_[request.label()];
  offline::Ending ending{.how = one.how};
  fields_.clear();
  if (one.is_own) {
    for (const Arrival::Logged::Cost& cost : one.logged.costs)
      fields_.push_back({.name = cost.field, .value = cost.units});
  }
  ending.fields = fields_;
  instance_.end(request, ending, now);
  free_.push_back(request.label());
}

void Run::count(const offline::Request& request) {
  using limiter::Outcome;
  Outcomes& outcomes = totals_.outcomes;
  const InProgress& one = in_progress_[request.label()];
  if (one.is_own) compare(request);
  count_at(request.decided_at(), is_denied(request));
  if (request.state() != State::decided) {
    ++(request.state() == State::malformed ? outcomes.malformed : outcomes.unrouted);
    return;
  }
  const limiter::Verdict& verdict = request.verdict();
  switch (verdict.outcome) {
    case Outcome::unlimited:
    case Outcome::allowed:
      ++outcomes.allowed;
      outcomes.shadow_denied += verdict.shadow_denied ? 1 : 0;
      outcomes.delayed += request.passed_at() > request.arrived_at() ? 1 : 0;
      break;
    case Outcome::denied:
    case Outcome::forbidden:
      ++outcomes.denied;
      break;
    default:
      ++outcomes.undecided;
      return;
  }
  if (!request.is_limited()) return;
  const options::Route* const route = request.decision().route();
  use_.count(verdict, {.route = static_cast<std::size_t>(route - proxy_.routes.data()),
                       .client = request.received().client,
                       .at = request.arrived_at(),
                       .logged = one.is_own ? std::span<const LoggedIdentity>(one.logged.identities)
                                            : std::span<const LoggedIdentity>()});
}

/// A request that may have a wrong time would leave the timeline without a shape.
void Run::count_at(Instant at, bool is_denied) {
  if (!is_ahead_) totals_.timeline.count(at, is_denied);
}

/// Decides the request at other rates.
void Run::study(offline::Request& request, const Arrival& arrival) {
  using enum limiter::Outcome;
  if (!request.is_limited()) return;
  const limiter::Outcome outcome = request.decision().verdict().outcome;
  if (outcome != allowed && outcome != denied) return;
  const LadderEnd end{.at = arrival.ends_at.value_or(now_), .how = arrival.end()};
  study_.decide(request.decision().evaluation(), end,
                arrival.is_own ? std::span<const Arrival::Logged::Cost>(arrival.logged.costs)
                               : std::span<const Arrival::Logged::Cost>(),
                now_);
}

/// Compares the decision with that of the log.
void Run::compare(const offline::Request& request) {
  const InProgress& one = in_progress_[request.label()];
  Reproduction& to = totals_.reproduction;
  ++to.compared;
  std::string logged = text_of(one.logged.decision, one.logged.policy, one.logged.remaining);
  std::string replayed = text_of(request);
  if (logged == replayed) return;
  if (++to.different <= Reproduction::most_kept)
    to.first.push_back({.file = std::string(one.file),
                        .line = one.line,
                        .logged = std::move(logged),
                        .replayed = std::move(replayed)});
}

/// Counts each identity once for the request of the trace.
void Run::count_absent() {
  std::uint64_t counted = 0;
  for (const limiter::TracedLimit& limit : trace_.limits) {
    for (const limiter::TracedIdentity& identity : limit.identities) {
      const std::uint64_t bit = std::uint64_t{1} << identity.index;
      if (identity.resolution.state != identity::Resolution::State::absent || (counted & bit) != 0)
        continue;
      counted |= bit;
      ++absent_[identity.index];
    }
  }
}

std::uint64_t Run::take_label() {
  if (free_.empty()) {
    in_progress_.push_back({});
    return in_progress_.size() - 1;
  }
  const std::uint64_t label = free_.back();
  free_.pop_back();
  return label;
}

Report Run::report(std::size_t most_keys) const {
  Report report = totals_;
  for (std::size_t i = 0; i < absent_.size(); ++i) {
    if (absent_[i] > 0)
      report.absent.push_back({.identity = limits_.identities[i].name, .requests = absent_[i]});
  }
  use_.add_to(report, most_keys);
  report.rates = study_.rates();
  if (max_denied_) report.suggestions = study_.suggestions(*max_denied_);
  if (flips_) {
    report.flips = flips_->report(most_keys);
    use_.name_keys(report.flips->denied);
    use_.name_keys(report.flips->admitted);
  }
  return report;
}

}  // namespace weir::replay
