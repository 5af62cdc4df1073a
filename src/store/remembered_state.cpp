#include "store/remembered_state.hpp"

#include <algorithm>
#include <type_traits>

#include "rules/arrival.hpp"
#include "rules/rules.hpp"

namespace weir::store {
namespace {

using rules::Algorithm;
using rules::Decision;
using rules::Policy;
using rules::Span;

/// The largest time by which the TAT can be ahead after this decision.
Span ahead_after(const Policy& policy, const Decision& decision) {
  const std::int64_t count = policy.rates[0].count;
  const Span tolerance = rules::burst_tolerance(policy);
  Span ahead{to_us(decision.reset_after), 0};
  if (decision.remaining > 0)
    ahead = std::min(ahead,
                     rules::subtract(tolerance, rules::span_of(policy, decision.remaining), count));
  if (decision.remaining < policy.capacity) {
    Span admissible = rules::span_of(policy, policy.capacity - decision.remaining - 1);
    if (policy.algorithm == Algorithm::leaky_bucket)
      admissible = std::min(admissible, Span{to_us(policy.max_delay), 0});
    ahead = std::min(ahead, rules::add(admissible, Span{to_us(decision.more_after), 0}, count));
  }
  return ahead;
}

template <class State>
State arrival_after(const Policy& policy, const Decision& decision, Instant at) {
  const Span ahead = ahead_after(policy, decision);
  return {.tat_us = to_us(at) + ahead.us, .fraction = ahead.fraction, .at = at};
}

/// The smallest remainder with which `units` are there after `duration`.
std::int64_t remainder_after(const Policy& policy, std::int64_t units, Duration duration) {
  const Span span = rules::span_of(policy, units);
  const std::int64_t early =
      std::clamp<std::int64_t>(span.us - to_us(duration), -1, policy.interval_us + 1);
  return span.fraction + policy.rates[0].count * early;
}

rules::TokenBucketState bucket_after(const Policy& policy, const Decision& decision, Instant at) {
  const std::int64_t used = policy.capacity - decision.remaining;
  if (used == 0) return {.at = at};
  const std::int64_t remainder = std::max(remainder_after(policy, used, decision.reset_after),
                                          remainder_after(policy, 1, decision.more_after));
  return {.at = at,
          .used = used,
          .remainder = std::clamp<std::int64_t>(remainder, 0, to_us(policy.rates[0].per) - 1)};
}

bool is_near(Duration a, Duration b) {
  return a - b <= Duration{1} && b - a <= Duration{1};
}

/// Whether the rules make this decision from the state, to a microsecond.
template <class State>
bool agrees(const Policy& policy, const State& state, Instant at, rules::Demand demand,
            const Decision& decision) {
  const rules::Level level = rules::level(policy, state, at);
  if (level.remaining != decision.remaining || !is_near(level.reset_after, decision.reset_after))
    return false;
  if (decision.allowed) return true;
  const rules::Admission admission = admit(policy, state, at, demand);
  if (admission.allowed || admission.retry_after.has_value() != decision.retry_after.has_value())
    return false;
  return !decision.retry_after || is_near(*admission.retry_after, *decision.retry_after);
}

/// A claim that an override or an exemption decides without the key's state.
bool is_decided_beforehand(const Claim& claim, const Decision& decision) {
  using rules::OverrideEffect;
  switch (decision.override_effect) {
    case OverrideEffect::unlimited:
    case OverrideEffect::denied:
      return true;
    case OverrideEffect::numbers:
      return false;
    default:
      return claim.is_exempt;
  }
}

}  // namespace

void RememberedState::update(const Claim& claim, const Decision& decision, Exchange exchange,
                             bool charged) {
  exchange_ = exchange;
  limit_ = decision.limit;
  override_effect_ = decision.override_effect;
  refill_ = decision.refill;
  ends_at_ = decision.ends_after ? exchange.sent_at + *decision.ends_after : Instant::max();
  if (is_decided_beforehand(claim, decision)) {
    known_ = Fixed{.allowed = decision.allowed, .remaining = decision.remaining};
    return;
  }
  if (decision.override_effect != rules::OverrideEffect::numbers) {
    if (const auto state = computed(claim, decision, exchange.answered_at)) {
      known_ = *state;
      return;
    }
  }
  ObservedLevel level(decision, exchange);
  if (const auto* earlier = std::get_if<ObservedLevel>(&known_); earlier != nullptr && !charged)
    level.inherit(*earlier);
  if (!decision.allowed) level.add_denial(claim.demand.cost, decision.retry_after);
  known_ = level;
}

/// The state that follows from a decision; empty: none does.
std::optional<RememberedState::Known> RememberedState::computed(const Claim& claim,
                                                                const Decision& decision,
                                                                Instant at) {
  const Policy& policy = *claim.policy;
  if (decision.limit != policy.capacity) return std::nullopt;
  const auto checked = [&](const auto& state) -> std::optional<Known> {
    if (!agrees(policy, state, at, claim.demand, decision)) return std::nullopt;
    return state;
  };
  switch (policy.algorithm) {
    case Algorithm::gcra:
      return checked(arrival_after<rules::GcraState>(policy, decision, at));
    case Algorithm::leaky_bucket:
      return checked(arrival_after<rules::LeakyBucketState>(policy, decision, at));
    case Algorithm::token_bucket:
      return checked(bucket_after(policy, decision, at));
    default:
      return std::nullopt;
  }
}

std::optional<Decision> RememberedState::decide(const Claim& claim, Instant now) const {
  if (now >= ends_at_) return std::nullopt;
  auto decision = level_of(claim, now);
  if (!decision) return std::nullopt;
  decision->limit = limit_;
  decision->override_effect = override_effect_;
  decision->refill = refill_;
  return decision;
}

std::optional<Decision> RememberedState::level_of(const Claim& claim, Instant now) const {
  const Policy& policy = *claim.policy;
  return std::visit(
      [&]<class State>(const State& state) -> std::optional<Decision> {
        if constexpr (std::is_same_v<State, ObservedLevel>) {
          return state.decide(claim.demand.cost, now);
        } else if constexpr (std::is_same_v<State, Fixed>) {
          return Decision{.allowed = state.allowed, .remaining = state.remaining};
        } else {
          const rules::Admission admission = admit(policy, state, now, claim.demand);
          const Instant latest = now + (exchange_.answered_at - exchange_.sent_at);
          if (!admission.allowed && admit(policy, state, latest, claim.demand).allowed)
            return std::nullopt;
          return decision_of(policy, state, now, admission);
        }
      },
      known_);
}

std::optional<Instant> RememberedState::denied_until(const Claim& claim) const {
  return std::visit(
      [&]<class State>(const State& state) -> std::optional<Instant> {
        if constexpr (std::is_same_v<State, ObservedLevel>) {
          return state.denied_until(claim.demand.cost);
        } else if constexpr (std::is_same_v<State, Fixed>) {
          return state.allowed ? std::nullopt : std::optional(Instant::max());
        } else {
          const rules::Admission admission =
              admit(*claim.policy, state, exchange_.answered_at, claim.demand);
          if (admission.allowed) return std::nullopt;
          if (!admission.retry_after) return Instant::max();
          return exchange_.sent_at + *admission.retry_after;
        }
      },
      known_);
}

}  // namespace weir::store
