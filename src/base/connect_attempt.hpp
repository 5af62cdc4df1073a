// One attempt to connect: its deadline, and how the addresses of a name share its time. Pure; not
// thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/time.hpp"

namespace weir {

class ConnectAttempt {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// An address to connect to.
  struct Address {
    std::size_t index;  ///< in the order of the lookup
    Time until;         ///< when the next one is to be tried
  };

  /// Starts an attempt, to one address unless set_addresses() is called.
  void begin(Time now, Duration timeout) {
    deadline_ = now + timeout;
    addresses_ = 1;
    next_ = 0;
  }
  void set_addresses(std::size_t addresses) { addresses_ = addresses; }

  Time deadline() const { return deadline_; }
  bool is_over(Time now) const { return now >= deadline_; }
  /// Whether an address has not been tried.
  bool has_next() const { return next_ < addresses_; }
  /// The first address that was not tried, which there must be. The remaining ones share the rest
  /// of the time equally.
  Address next(Time now) {
    const auto left = static_cast<std::int64_t>(addresses_ - next_);
    return {.index = next_++, .until = now + (deadline_ - now) / left};
  }

 private:
  Time deadline_;
  std::size_t addresses_ = 0;
  std::size_t next_ = 0;
};

}  // namespace weir
