// The keys of one provider that are in use, replaced as a whole while workers verify with them.
//
// Thread-safe. A worker keeps the set it has read and compares numbers, so a request costs one
// atomic load.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "jwt/key_set.hpp"

namespace weir::jwt {

class PublishedKeys {
 public:
  /// A set, and the number of its publication.
  struct Edition {
    std::shared_ptr<const KeySet> keys;  ///< nullptr: none has been published
    std::uint64_t number = 0;
  };

  PublishedKeys() = default;
  explicit PublishedKeys(KeySet keys) { publish(std::make_shared<const KeySet>(std::move(keys))); }

  /// 0 before the first publication, then 1, 2 and so on.
  std::uint64_t number() const { return number_.load(std::memory_order_acquire); }
  Edition edition() const {
    const std::lock_guard lock{mutex_};
    return {.keys = keys_, .number = number()};
  }
  void publish(std::shared_ptr<const KeySet> keys) {
    const std::lock_guard lock{mutex_};
    keys_.swap(keys);
    number_.fetch_add(1, std::memory_order_release);
  }

  /// Notes that a token needs a key that the set does not have. Any number of calls is one note.
  void note_unknown_key() {
    if (!is_key_unknown_.load(std::memory_order_relaxed))
      is_key_unknown_.store(true, std::memory_order_relaxed);
  }
  /// Returns whether there was such a note since the last call.
  bool take_unknown_key() { return is_key_unknown_.exchange(false, std::memory_order_relaxed); }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const KeySet> keys_;
  std::atomic<std::uint64_t> number_{0};
  std::atomic<bool> is_key_unknown_{false};
};

}  // namespace weir::jwt
