#include "replay/timeline.hpp"

#include <array>
#include <chrono>
#include <utility>

namespace weir::replay {
namespace {

/// The next length, of which this one is a part.
Duration longer(Duration length) {
  using namespace std::chrono_literals;
  constexpr std::array<Duration, 13> lengths{1s,    5s, 10s, 30s, 1min, 5min, 10min,
                                             30min, 1h, 3h,  6h,  12h,  24h};
  for (const Duration one : lengths) {
    if (one > length) return one;
  }
  return 2 * length;
}

}  // namespace

void Timeline::count(Instant at, bool is_denied) {
  if (at < end_) {  // most requests are in the period of the one before
    ++periods_.back().requests;
    periods_.back().denied += is_denied ? 1 : 0;
    return;
  }
  if (periods_.empty()) first_ = to_us(at) / to_us(length_);
  while (to_us(at) / to_us(length_) - first_ >= static_cast<std::int64_t>(most_periods))
    widen();
  const auto index = static_cast<std::size_t>(to_us(at) / to_us(length_) - first_);
  if (index >= periods_.size()) periods_.resize(index + 1);
  ++periods_[index].requests;
  periods_[index].denied += is_denied ? 1 : 0;
  end_ = begin() + static_cast<std::int64_t>(periods_.size()) * length_;
}

void Timeline::widen() {
  const Duration wide = longer(length_);
  const std::int64_t factor = wide / length_;
  const std::int64_t first = first_ / factor;
  std::vector<Period> periods;
  for (std::size_t i = 0; i < periods_.size(); ++i) {
    const auto index =
        static_cast<std::size_t>((first_ + static_cast<std::int64_t>(i)) / factor - first);
    if (index >= periods.size()) periods.resize(index + 1);
    periods[index].requests += periods_[i].requests;
    periods[index].denied += periods_[i].denied;
  }
  periods_ = std::move(periods);
  first_ = first;
  length_ = wide;
}

}  // namespace weir::replay
