// Decides whether a configuration that was decided in shadow replaces the running one. Pure.
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace weir::offline {

/// A share in millionths: 0.5 % is 5,000.
inline constexpr std::int64_t whole_share = 1'000'000;

/// The period in shadow, and the share of decisions that may flip in it.
struct ReloadGuard {
  Instant begun_at{};
  Duration shadow{0};
  std::int64_t max_flips = 0;  ///< of all decisions, as a share

  Instant until() const { return begun_at + shadow; }
};

enum class Judgement : std::uint8_t {
  pending,
  passed,        ///< the period is over, and few enough decisions have flipped
  failed,        ///< too many decisions have flipped, or will have
  not_compared,  ///< the period is over, and more requests were skipped than compared
};

/// The requests and calls of a period so far.
struct PeriodCounts {
  std::uint64_t decisions = 0;  ///< compared
  std::uint64_t flips = 0;      ///< of them
  std::uint64_t skipped = 0;    ///< not compared
};

/// The flips that a share permits of so many decisions; exact, rounded down.
std::uint64_t permitted_flips(std::int64_t share, std::uint64_t decisions);

/// Judges the decisions until `now`. At the end of the period the judgement is final; a period
/// without requests has passed. It fails before the end if there are more flips already than the
/// whole period will permit at the present rate of decisions. The rate is not known in the first
/// tenth of the period and before 1,000 decisions.
Judgement judge(const ReloadGuard& guard, const PeriodCounts& counts, Instant now);

}  // namespace weir::offline
