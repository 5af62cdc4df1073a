// The results at other rates: denials of each policy, and the rates that are suggested. Plain
// values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rules/policy.hpp"

namespace weir::replay {

/// A share in millionths: 0.1 % is 1,000.
inline constexpr std::int64_t whole_share = 1'000'000;

/// A policy at one rate, alone: as if no other limit denied a request.
struct RateReport {
  std::vector<rules::Rate> rates{};     ///< several tiers for sliding_window; concurrency: none
  std::optional<std::int64_t> limit{};  ///< of concurrency, in place of a rate
  std::int64_t burst = 0;               ///< units usable at once
  std::optional<std::string> times{};   ///< `x2`: of the configured rate; empty: no such multiple
  bool is_round = false;
  std::uint64_t denied = 0;       ///< requests
  std::uint64_t denied_keys = 0;  ///< with a request that was denied
};

/// A policy with the numbers of its own, or of a plan, at several rates.
struct PolicyRates {
  std::string policy;
  std::optional<std::string> plan{};
  /// Without the burst that the configuration has. Only for suggestions.
  bool drops_burst = false;
  std::uint64_t requests = 0;
  std::uint64_t keys = 0;
  std::vector<RateReport> rates{};  ///< rising
};

struct Suggestion {
  std::string policy;
  std::optional<std::string> plan{};
  std::uint64_t requests = 0;
  std::uint64_t keys = 0;
  std::optional<RateReport> rate{};     ///< empty: no round rate denies few enough
  std::optional<RateReport> smaller{};  ///< the next smaller round rate, which denies too many
  std::optional<RateReport> highest{};  ///< if there is no rate: the highest one that was decided
  /// The configuration has a burst with which no round rate suffices, so the rate is one without.
  bool drops_burst = false;
};

struct Suggestions {
  std::int64_t max_denied = 0;  ///< of the requests and of the keys of a policy, as a share
  std::vector<Suggestion> policies{};
  /// Policies of concurrency for which the log has no durations.
  std::vector<std::string> without_durations{};
};

}  // namespace weir::replay
