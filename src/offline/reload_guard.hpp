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
  passed,  ///< the period is over, and few enough decisions have flipped
  failed,
};

/// The flips that a share permits of so many decisions; exact, rounded down.
std::uint64_t permitted_flips(std::int64_t share, std::uint64_t decisions);

/// Judges what has been decided until `now`. At the end of the period it is final; no decisions at
/// all have passed. Fails before the end if even so many decisions as the period will have at the
/// present rate do not permit the flips that there are already: not in the first tenth of the
/// period and not before 1,000 decisions, when the rate is not known.
Judgement judge(const ReloadGuard& guard, std::uint64_t decisions, std::uint64_t flips,
                Instant now);

}  // namespace weir::offline
