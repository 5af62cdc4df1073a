#include "limiter/top_keys.hpp"

#include <algorithm>
#include <utility>

namespace weir::limiter {

/// Not a copy of one: it would not have its reserved memory.
TopKeys::Sketches TopKeys::sketches() {
  using Sketch = Sketches::value_type;
  return {Sketch(capacity), Sketch(capacity), Sketch(capacity)};
}

TopKeys::TopKeys(std::uint64_t seed) : hash_(seed), present_(sketches()), previous_(sketches()) {}

TopCounts TopKeys::read(Instant now) {
  if (now >= ends_at_) begin_interval(now);
  TopCounts counts{.since = std::max(begun_at_, previous_from_)};
  for (std::size_t event = 0; event < key_event_count; ++event)
    counts.parts[event] = {previous_[event].summary(), present_[event].summary()};
  return counts;
}

void TopKeys::begin_interval(Instant now) {
  const Instant from{now.time_since_epoch() / interval * interval};
  std::swap(previous_, present_);
  const bool follows = ends_at_ == from;
  for (std::size_t event = 0; event < key_event_count; ++event) {
    present_[event].clear();
    if (!follows) previous_[event].clear();
  }
  if (begun_at_ == Instant::max()) begun_at_ = now;
  previous_from_ = from - interval;
  ends_at_ = from + interval;
}

}  // namespace weir::limiter
