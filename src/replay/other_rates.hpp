// The other rates at which a policy is decided: multiples of its own, and round ones. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rules/policy.hpp"

namespace weir::replay {

/// 1, 2, 2.5 and 5 times the powers of ten that are whole numbers, up to `most`, rising.
std::vector<std::int64_t> round_counts(std::int64_t most);

/// The definition with this count in its first rate, or this limit of concurrency. Further tiers
/// change by the same factor, rounded up. As for a plan that has only a rate, a burst that is
/// written stays, and the default is the count. Empty: the rules refuse it.
std::optional<rules::Definition> with_count(const rules::Definition& definition,
                                            std::int64_t count);

struct OtherRate {
  rules::Definition definition;
  rules::Policy numbers;
  std::optional<std::string> times{};  ///< `x2`
  bool is_round = false;
};

/// Half the configured rate (rounded down), the rate itself and twice the rate, without those that
/// cannot be. `with_round`: also the round rates up to a thousand times the rate. Rising.
std::vector<OtherRate> other_rates(const rules::Definition& definition, bool with_round);

/// Only the round ones, without the burst that is written. Empty: none is written.
std::vector<OtherRate> round_rates_without_burst(const rules::Definition& definition);

}  // namespace weir::replay
