// The latest list of top keys, which another thread makes, for the status page.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/time.hpp"
#include "status/status.hpp"

namespace weir::admin {

/// Makes the list and passes it to its argument: once, later or never, on any thread. Empty: there
/// is no list. Does not block.
using ReadTopKeys = std::function<void(std::function<void(status::TopKeys)>)>;

/// Used by one thread; a list may arrive on any, also after this has gone.
class LatestTopKeys {
 public:
  static constexpr Duration interval = std::chrono::seconds(5);

  explicit LatestTopKeys(ReadTopKeys read) : read_(std::move(read)) {}

  /// The latest list, unless it is old. Requests another one if the last request is an interval
  /// ago.
  std::optional<status::TopKeys> at(Instant now) {
    if (!read_) return std::nullopt;
    if (!asked_at_ || now - *asked_at_ >= interval) {
      asked_at_ = now;
      read_([shared = shared_, now](status::TopKeys keys) {
        const std::lock_guard lock(shared->mutex);
        shared->read_at = now;
        shared->keys = std::move(keys);
      });
    }
    const std::lock_guard lock(shared_->mutex);
    const bool is_old = shared_->read_at && now - *shared_->read_at > 3 * interval;
    return is_old ? std::nullopt : shared_->keys;
  }

 private:
  struct Shared {
    std::mutex mutex;
    std::optional<Instant> read_at;
    std::optional<status::TopKeys> keys;
  };

  ReadTopKeys read_;
  std::optional<Instant> asked_at_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace weir::admin
