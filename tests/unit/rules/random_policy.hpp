// Random policies and demands, with the awkward values more often than chance would have them.
// concurrency is not among the policies, because it has no rate: holds_model_test.cpp has its
// histories.
#pragma once

#include <array>
#include <random>

#include "sequence.hpp"

namespace weir::rules::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : source_(seed) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(source_);
  }
  bool one_in(std::int64_t n) { return between(1, n) == 1; }
  template <std::size_t Size>
  std::int64_t any_of(const std::int64_t (&values)[Size]) {
    return values[static_cast<std::size_t>(between(0, Size - 1))];
  }

 private:
  std::mt19937_64 source_;
};

inline Rate random_rate(Random& random) {
  const std::int64_t count =
      random.one_in(3) ? random.between(1, 100)
                       : random.any_of({1, 2, 3, 5, 7, 10, 60, 1000, 6999, 65'536, 99'991});
  const std::int64_t per = random.any_of({10, 100, 1'000, 70'000, 1'000'000, 7'000'000, 60'000'000,
                                          3'600'000'000, 86'400'000'000, 2'678'400'000'000});
  return {count, Duration{per}};
}

inline Definition random_definition(Random& random, Algorithm algorithm) {
  Definition definition{.algorithm = algorithm, .rates = {random_rate(random)}};
  const std::int64_t count = definition.rates[0].count;
  const bool bucket = algorithm == Algorithm::gcra || algorithm == Algorithm::token_bucket;
  const bool window =
      algorithm == Algorithm::fixed_window || algorithm == Algorithm::attributed_window;
  if (bucket && random.one_in(2)) definition.burst = random.between(1, 2 * count);
  if (window && random.one_in(2)) definition.anchor = Anchor::clock;
  if (algorithm == Algorithm::fixed_window || algorithm == Algorithm::sliding_log) {
    definition.count_rejected = random.one_in(3);
  }
  if (algorithm == Algorithm::sliding_window) {
    for (std::int64_t more = random.between(0, 2); more > 0; --more) {
      definition.rates.push_back(random_rate(random));
    }
  }
  if (algorithm == Algorithm::leaky_bucket) {
    definition.queue = random.between(0, 20);
    if (random.one_in(2)) {
      definition.max_delay =
          Duration{random.between(0, 20 * to_us(definition.rates[0].per) / count)};
    }
  }
  return definition;
}

/// A step of time: often none, often to an instant that the last decision named or next to it.
inline Duration random_step(Random& random, const Policy& policy, const Decision& last) {
  const Rate& rate =
      policy.rates[static_cast<std::size_t>(random.between(0, std::ssize(policy.rates) - 1))];
  const Duration hint =
      random.one_in(2) ? last.more_after : last.retry_after.value_or(last.reset_after);
  switch (random.between(0, 7)) {
    case 0:
    case 1:
      return Duration{0};
    case 2:
      return hint;
    case 3:
      return std::max(hint - Duration{1}, Duration{0});
    case 4:
      return Duration{random.between(0, 3)};
    case 5:
      return Duration{random.between(0, to_us(rate.per) + to_us(rate.per) / 5)};
    default:
      return Duration{random.between(0, 1 + 2 * to_us(rate.per) / rate.count)};
  }
}

inline Demand random_demand(Random& random, const Policy& policy, const Decision& last) {
  Demand demand{.cost = 1, .overdraft = random.one_in(20)};
  switch (random.between(0, 7)) {
    case 0:
      demand.cost = 0;
      break;
    case 1:
      demand.cost = random.between(0, policy.capacity + 1);
      break;
    case 2:
      demand.cost = last.remaining;
      break;
    case 3:
      demand.cost = last.remaining + 1;
      break;
    case 4:
      demand.cost = random.one_in(4)
                        ? huge
                        : std::max<std::int64_t>(1, policy.capacity / random.between(1, 10));
      break;
    default:
      break;
  }
  return demand;
}

}  // namespace weir::rules::test
