#include "offline/reload_guard.hpp"

#include <chrono>

namespace weir::offline {
namespace {

constexpr std::uint64_t fewest_decisions = 1'000;
constexpr std::int64_t known_part = 10;  ///< the rate is known after this part of the period

std::uint64_t whole_ms(Duration duration) {
  return static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::milliseconds>(duration).count());
}

}  // namespace

std::uint64_t permitted_flips(std::int64_t share, std::uint64_t decisions) {
  constexpr auto whole = static_cast<std::uint64_t>(whole_share);
  const auto part = static_cast<std::uint64_t>(share);
  return decisions / whole * part + decisions % whole * part / whole;
}

Judgement judge(const ReloadGuard& guard, const PeriodCounts& counts, Instant now) {
  const auto& [decisions, flips, skipped] = counts;
  if (now >= guard.until()) {
    if (flips > permitted_flips(guard.max_flips, decisions)) return Judgement::failed;
    return skipped > decisions ? Judgement::not_compared : Judgement::passed;
  }
  const Duration elapsed = now - guard.begun_at;
  if (decisions < fewest_decisions || elapsed < guard.shadow / known_part)
    return Judgement::pending;
  // Milliseconds and a quotient of at most ten keep the product below 2^64.
  const std::uint64_t passed_ms = whole_ms(elapsed);
  const std::uint64_t expected = (decisions * whole_ms(guard.shadow) + passed_ms - 1) / passed_ms;
  return flips > permitted_flips(guard.max_flips, expected) ? Judgement::failed
                                                            : Judgement::pending;
}

}  // namespace weir::offline
