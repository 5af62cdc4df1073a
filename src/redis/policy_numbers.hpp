// The numbers of a policy as the scripts take them (lua/arguments.lua). Pure.
#pragma once

#include <cstdint>
#include <span>

#include "base/time.hpp"
#include "rules/policy.hpp"

namespace weir::redis {

/// The part of a claim's form that belongs to its policy.
constexpr std::int64_t policy_form(const rules::Policy& policy) {
  return static_cast<std::int64_t>(policy.algorithm) + (policy.count_rejected ? 32 : 0) +
         (policy.anchor == rules::Anchor::clock ? 64 : 0);
}

/// Calls `visit` with the capacity, the count and the per of the rate, and the further numbers of
/// the algorithm.
template <class Visit>
void each_number(const rules::Policy& policy, Visit&& visit) {
  visit(policy.capacity);
  visit(policy.rates[0].count);
  visit(to_us(policy.rates[0].per));
  if (policy.algorithm == rules::Algorithm::leaky_bucket) visit(to_us(policy.max_delay));
  if (policy.algorithm != rules::Algorithm::sliding_window) return;
  visit(static_cast<std::int64_t>(policy.rates.size()));
  for (const rules::Rate& rate : std::span(policy.rates).subspan(1)) {
    visit(rate.count);
    visit(to_us(rate.per));
  }
}

}  // namespace weir::redis
