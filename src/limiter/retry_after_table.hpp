// The keys that were denied and may not be retried yet: the Retry-After that each was given. Finds
// requests that come too early. Fixed memory, shared by all workers, without a lock.
//
// An entry is three words, of which the first is the hash of the key, combined with the other two
// by exclusive or. A reader that sees words of two writes does not find the key (Hyatt and Mann, "A
// lock-less transposition table implementation for parallel search", 2002). So an entry that two
// workers write at once is lost, and never wrong. With more keys than entries in a set, the one
// that may be retried first is replaced.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "store/key_hash.hpp"
#include "store/store.hpp"

namespace weir::limiter {

class RetryAfterTable {
 public:
  static constexpr std::size_t sets = 4096;
  static constexpr std::size_t entries_per_set = 4;

  /// `seed`: random in production, so that clients cannot choose keys that share a set.
  explicit RetryAfterTable(std::uint64_t seed) : hash_(seed), sets_(sets) {}

  /// The key has been answered at `now` that it may come again at `retry_at`. The latest answer
  /// counts.
  void give(const store::Key& key, Instant now, Instant retry_at);

  /// True if the key was given a later instant than `arrived_at`, in an answer before it. Looks the
  /// key up only if any key was given a later instant; after a denial that is so until the latest
  /// of these instants has passed.
  bool is_early(const store::Key& key, Instant arrived_at) const {
    return to_us(arrived_at) < latest_.load(std::memory_order_relaxed) && is_given(key, arrived_at);
  }

 private:
  /// Instants in microseconds; all zero if it is unused.
  struct Entry {
    std::atomic<std::uint64_t> check{0};
    std::atomic<std::int64_t> given_at{0};  ///< the first of answers that overlap
    std::atomic<std::int64_t> retry_at{0};
  };
  using Set = std::array<Entry, entries_per_set>;
  struct Words {
    std::uint64_t hash;
    std::int64_t given_at;
    std::int64_t retry_at;
  };

  static Words read(const Entry& entry);
  bool is_given(const store::Key& key, Instant arrived_at) const;

  store::KeyHash hash_;
  std::vector<Set> sets_;
  std::atomic<std::int64_t> latest_{0};  ///< of all instants that were given
};

}  // namespace weir::limiter
