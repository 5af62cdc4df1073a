#include "rules/token_bucket.hpp"

#include <algorithm>

#include "rules/span.hpp"

namespace weir::rules {

namespace {

/// The first instant at which there are `tokens` more than in `state`.
Instant grown_at(const Policy& policy, const TokenBucketState& state, std::int64_t tokens) {
  const Span span = span_of(policy, tokens);
  const std::int64_t us =
      span.us + ceil_div(span.fraction - state.remainder, policy.rates[0].count);
  return state.at + Duration{us};
}

/// `state` within the bounds of `policy`, which a reload may have changed since it was written.
TokenBucketState bounded(const Policy& policy, const TokenBucketState& state) {
  return {.at = state.at,
          .used = std::min(state.used, policy.capacity),
          .remainder = std::min(state.remainder, to_us(policy.rates[0].per) - 1)};
}

/// The bucket as it is at `now`; an earlier `now` changes nothing.
TokenBucketState refilled(const Policy& policy, const TokenBucketState& stored, Instant now) {
  const TokenBucketState state = bounded(policy, stored);
  if (now <= state.at) return state;
  if (state.used == 0 || now >= grown_at(policy, state, state.used)) return {.at = now};
  const Quotient grown = units_in(policy, to_us(now - state.at), state.remainder);
  return {.at = now, .used = state.used - grown.whole, .remainder = grown.remainder};
}

}  // namespace

Admission admit(const Policy& policy, const TokenBucketState& stored, Instant now, Demand demand) {
  const std::int64_t cost = std::max<std::int64_t>(demand.cost, 0);
  const TokenBucketState state = refilled(policy, stored, now);
  const std::int64_t tokens = policy.capacity - state.used;
  if (cost <= tokens) return {.allowed = true, .units = cost};
  if (demand.overdraft) return {.allowed = true, .units = tokens};
  if (cost > policy.capacity) return {};
  return {.retry_after = grown_at(policy, state, cost - tokens) - now};
}

void charge(const Policy& policy, TokenBucketState& stored, Instant now, std::int64_t units) {
  if (units <= 0) return;
  stored = refilled(policy, stored, now);
  stored.used += std::min(units, policy.capacity - stored.used);
}

void refund(const Policy& policy, TokenBucketState& stored, Instant now, std::int64_t units) {
  TokenBucketState state = refilled(policy, stored, now);
  if (units <= 0 || state.used == 0) return;
  state.used -= std::min(units, state.used);
  if (state.used == 0) state.remainder = 0;
  stored = state;
}

Level level(const Policy& policy, const TokenBucketState& stored, Instant now) {
  const TokenBucketState state = refilled(policy, stored, now);
  if (state.used == 0) return {.remaining = policy.capacity};
  return {.remaining = policy.capacity - state.used,
          .reset_after = grown_at(policy, state, state.used) - now,
          .more_after = grown_at(policy, state, 1) - now};
}

Instant whole_at(const Policy& policy, const TokenBucketState& stored) {
  const TokenBucketState state = bounded(policy, stored);
  return grown_at(policy, state, state.used);
}

}  // namespace weir::rules
