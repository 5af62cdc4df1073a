#include "telemetry/span_queue.hpp"

#include <utility>

namespace weir::telemetry {

void SpanQueue::set_most(std::size_t most) {
  const std::lock_guard lock(mutex_);
  most_ = most;
  if (most == 0) {
    count_dropped(spans_.size());
    spans_.clear();
  }
  size_ = spans_.size();
}

bool SpanQueue::has_room() {
  const std::size_t most = most_.load(std::memory_order_relaxed);
  if (size() < most) return true;
  if (most != 0) count_dropped(1);
  return false;
}

void SpanQueue::push(std::string span) {
  const std::lock_guard lock(mutex_);
  spans_.push_back(std::move(span));
  size_ = spans_.size();
}

std::size_t SpanQueue::take(std::size_t most, std::string& to) {
  std::deque<std::string> taken;
  {
    const std::lock_guard lock(mutex_);
    if (spans_.size() <= most) {
      taken.swap(spans_);
    } else {
      for (std::size_t i = 0; i < most; ++i) {
        taken.push_back(std::move(spans_.front()));
        spans_.pop_front();
      }
    }
    size_ = spans_.size();
  }
  for (const std::string& span : taken) {
    if (!to.empty()) to += ',';
    to += span;
  }
  return taken.size();
}

}  // namespace weir::telemetry
