// A value that one thread replaces as a whole while others read it. Copies share the value.
//
// Any thread may read at any time, as long as the value that replace() returns is kept until every
// read in progress has ended; one thread at a time may replace. A read costs one atomic load.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

namespace weir {

template <class Value>
class Replaceable {
 public:
  explicit Replaceable(Value value) : shared_(std::make_shared<Shared>()) {
    replace(std::move(value));
  }

  const Value& current() const { return *shared_->read.load(std::memory_order_acquire); }
  /// Returns the current value and keeps it; for threads that replace() does not wait for. May be
  /// called by any thread.
  std::shared_ptr<const Value> hold() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->owned;
  }
  /// Replaces the value for all copies and returns the previous one.
  std::shared_ptr<const Value> replace(Value value) {
    auto next = std::make_shared<const Value>(std::move(value));
    const std::lock_guard lock(shared_->mutex);
    shared_->read.store(next.get(), std::memory_order_release);
    return std::exchange(shared_->owned, std::move(next));
  }

 private:
  struct Shared {
    mutable std::mutex mutex;
    std::shared_ptr<const Value> owned;
    std::atomic<const Value*> read{};
  };
  std::shared_ptr<Shared> shared_;
};

}  // namespace weir
