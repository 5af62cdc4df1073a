#include "replay/time_order.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace weir::replay {

Arrival& TimeOrder::storage() {
  if (free_.empty()) {
    all_.push_back(std::make_unique<Arrival>());
    free_.push_back(all_.back().get());
  }
  return *free_.back();
}

void TimeOrder::add(Arrival& arrival, Instant log_time) {
  free_.pop_back();
  log_time_ = std::max(log_time_, log_time);
  heap_.push_back({.at = arrival.at, .number = ++numbers_, .arrival = &arrival});
  std::ranges::push_heap(heap_, std::less<>());
}

const Arrival* TimeOrder::next(bool is_end) {
  if (passed_on_ != nullptr) free_.push_back(std::exchange(passed_on_, nullptr));
  if (heap_.empty()) return nullptr;
  const bool is_ready =
      is_end || heap_.size() > bounds_.requests || heap_.front().at + bounds_.window < log_time_;
  if (!is_ready) return nullptr;
  std::ranges::pop_heap(heap_, std::less<>());
  passed_on_ = heap_.back().arrival;
  heap_.pop_back();
  return passed_on_;
}

}  // namespace weir::replay
