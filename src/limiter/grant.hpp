// The holds that an admitted request owns in a store and that end with it.
//
// Settled exactly once: by settle() when the response has ended, else by the destructor, whatever
// ends the exchange. Limits that charge on admission hold nothing: without others the list of
// settlements is empty. Move-only; used on the worker's loop.
#pragma once

#include <span>
#include <utility>

#include "base/clock.hpp"
#include "store/store.hpp"

namespace weir::limiter {

class Grant {
 public:
  Grant() = default;
  /// `settlements` and `clock` outlive the grant; `clock` is read by the destructor.
  Grant(store::Store& store, const MonotonicClock& clock,
        std::span<const store::Settlement> settlements = {})
      : store_(&store), clock_(&clock), settlements_(settlements) {}
  Grant(Grant&& other) noexcept
      : store_(std::exchange(other.store_, nullptr)),
        clock_(other.clock_),
        settlements_(other.settlements_) {}
  Grant& operator=(Grant&& other) noexcept {
    if (this == &other) return *this;
    if (is_open()) settle(clock_->now());
    store_ = std::exchange(other.store_, nullptr);
    clock_ = other.clock_;
    settlements_ = other.settlements_;
    return *this;
  }
  ~Grant() {
    if (is_open()) settle(clock_->now());
  }

  bool is_open() const { return store_ != nullptr; }
  /// The caller ends the holds instead.
  void release() { store_ = nullptr; }
  /// Does nothing if it is settled already.
  void settle(Instant now) noexcept {
    if (store::Store* const store = std::exchange(store_, nullptr))
      store->settle(settlements_, now);
  }

 private:
  store::Store* store_ = nullptr;  ///< nullptr: nothing to settle
  const MonotonicClock* clock_ = nullptr;
  std::span<const store::Settlement> settlements_;
};

}  // namespace weir::limiter
