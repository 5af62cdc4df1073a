// The state of the keys of a URL, for /readyz and the metrics. Thread-safe: the server's thread
// writes, the admin server reads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/counters.hpp"

namespace weir::admin {

class KeyHealth {
 public:
  Counter ok, failed;  ///< fetches

  /// `age`: since the last fetch that succeeded; nothing before the first one. `degraded`: why
  /// tokens are rejected or verified with old keys; empty if they are not.
  void set(std::optional<std::chrono::seconds> age, std::string degraded) {
    age_s_.store(age ? age->count() : none, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    degraded_ = std::move(degraded);
  }
  std::optional<std::chrono::seconds> age() const {
    const std::int64_t age_s = age_s_.load(std::memory_order_relaxed);
    if (age_s == none) return std::nullopt;
    return std::chrono::seconds(age_s);
  }
  std::string degraded() const {
    const std::lock_guard lock(mutex_);
    return degraded_;
  }

 private:
  static constexpr std::int64_t none = -1;
  std::atomic<std::int64_t> age_s_{none};
  mutable std::mutex mutex_;
  std::string degraded_;
};

/// Providers with the same URL share its health.
struct KeySource {
  std::string provider;
  std::shared_ptr<const KeyHealth> health;
};

}  // namespace weir::admin
