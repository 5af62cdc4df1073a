#include "rules/share.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "rules/sliding_window.hpp"
#include "rules/span.hpp"

namespace weir::rules {

namespace {

/// The most units that a tier of `count` units admits beyond the exact log (docs/algorithms.md). A
/// single unit is never forgiven in part.
std::int64_t excess_of(std::int64_t count) {
  return std::min(count - 1, ceil_div(count, sub_windows));
}

std::int64_t share_of_tier(std::int64_t count, std::int64_t instances) {
  const std::int64_t all = count + ceil_div(count, sub_windows);
  std::int64_t share = count / instances;
  while (share > 1 && share + excess_of(share) > all / instances)
    --share;
  return share;
}

std::vector<Rate> shares_of_windows(const Policy& policy, std::int64_t instances) {
  std::vector<Rate> rates = policy.rates;
  for (Rate& rate : rates) {
    rate.count = policy.algorithm == Algorithm::sliding_window
                     ? share_of_tier(rate.count, instances)
                     : rate.count / instances;
  }
  return rates;
}

/// The units of a bucket's capacity that demands of one unit each can use at once: max_delay may
/// allow fewer than the queue.
std::int64_t usable_at_once(const Policy& policy) {
  if (policy.algorithm != Algorithm::leaky_bucket) return policy.capacity;
  const Span whole_queue = span_of(policy, policy.capacity - 1);
  if (whole_queue <= Span{to_us(policy.max_delay), 0}) return policy.capacity;
  return 1 + units_in(policy, to_us(policy.max_delay), 0).whole;
}

/// Rates of 1/`instances` of a rate, the exact ones first; the last one is smaller.
std::vector<Rate> shares_of_rate(const Rate& rate, std::int64_t instances) {
  std::vector<Rate> rates;
  if (rate.count % instances == 0) return {{rate.count / instances, rate.per}};
  if (rate.per <= Duration::max() / instances) rates.push_back({rate.count, rate.per * instances});
  if (rate.count >= instances) rates.push_back({rate.count / instances, rate.per});
  return rates;
}

Fault nothing_left(std::int64_t quota, std::int64_t instances) {
  return {Setting::rate, "one of " + std::to_string(instances) +
                             " instances cannot have a share of " + std::to_string(quota) +
                             (quota == 1 ? " unit" : " units")};
}

Result<Policy, Fault> share_of_bucket(const Policy& policy, std::int64_t instances) {
  const std::int64_t at_once = usable_at_once(policy);
  const std::int64_t capacity = at_once / instances;
  if (capacity == 0) return nothing_left(at_once, instances);
  Definition definition{.algorithm = policy.algorithm};
  if (policy.algorithm == Algorithm::leaky_bucket) {
    definition.queue = capacity - 1;
    definition.max_delay = policy.max_delay;
  } else {
    definition.burst = capacity;
  }
  for (const Rate& rate : shares_of_rate(policy.rates[0], instances)) {
    definition.rates = {rate};
    if (Result<Policy, Fault> share = compile(definition)) return share;
  }
  return Fault{Setting::rate, "one of " + std::to_string(instances) +
                                  " instances cannot count its share of the rate exactly"};
}

}  // namespace

Result<Policy, Fault> share_of(const Policy& policy, std::int64_t instances) {
  if (instances <= 1) return policy;
  const bool is_bucket = policy.algorithm == Algorithm::gcra ||
                         policy.algorithm == Algorithm::token_bucket ||
                         policy.algorithm == Algorithm::leaky_bucket;
  if (is_bucket) return share_of_bucket(policy, instances);
  if (policy.algorithm == Algorithm::concurrency) {
    const std::int64_t limit = policy.capacity / instances;
    if (limit == 0) return nothing_left(policy.capacity, instances);
    return compile({.algorithm = policy.algorithm, .limit = limit});
  }
  const bool is_anchored = policy.algorithm == Algorithm::fixed_window ||
                           policy.algorithm == Algorithm::attributed_window;
  const Definition definition{.algorithm = policy.algorithm,
                              .rates = shares_of_windows(policy, instances),
                              .anchor = is_anchored ? std::optional(policy.anchor) : std::nullopt,
                              .count_rejected = policy.count_rejected};
  const auto empty = [](const Rate& rate) { return rate.count == 0; };
  if (std::any_of(definition.rates.begin(), definition.rates.end(), empty)) {
    return nothing_left(policy.capacity, instances);
  }
  return compile(definition);
}

}  // namespace weir::rules
