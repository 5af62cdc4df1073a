// The events of keys that reach a percentage of their quota: found among decided requests, raised
// once in a window, and kept until a reader takes them.
//
// A window is the window of a fixed window. Every other algorithm refills all the time: its window
// is the time until the quota is whole again, from the event on.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "limiter/limiter.hpp"
#include "limiter/verdict.hpp"
#include "store/key_hash.hpp"
#include "store/store.hpp"

namespace weir::limiter {

/// The largest number of percentages; the loader refuses more.
inline constexpr std::size_t event_percent_limit = 8;

/// A key has reached a percentage of its quota.
struct QuotaEvent {
  store::Key key{};
  int percent = 0;
  std::int64_t used = 0;  ///< units, after the request; held units count
  std::int64_t limit = 0;
  Duration whole_after{0};  ///< until the window ends, or the quota is whole
  Instant at{};
};

/// True if the request took the use of the key from below the percentage of its quota to it or
/// above it. Only one decision of a store about a window does. With leases an instance does not see
/// that decision, because units are taken in advance: then true if the use is not below the
/// percentage. False for `concurrency`, which has no window. Pure.
bool reaches(const LimitVerdict& limit, Outcome outcome, int percent);

/// Thread-safe. Takes its lock, and its memory, only for events.
class QuotaEvents {
 public:
  static constexpr std::size_t sets = 4096;
  static constexpr std::size_t entries_per_set = 4;
  static constexpr std::size_t most_pending = 1024;

  /// `seed`: random in production, so that clients cannot choose keys that share a set.
  explicit QuotaEvents(std::uint64_t seed) : hash_(seed) {}

  /// Keeps the event, unless the same was raised in a window that has not ended. Beyond
  /// `most_pending` it is dropped. With more marks than entries in a set, the one whose window ends
  /// first is forgotten.
  void raise(const QuotaEvent& event);
  /// Returns the events since the last call, in their order.
  std::vector<QuotaEvent> take();

  std::uint64_t raised() const { return raised_.load(); }
  /// Raised events that are lost, because no reader took them in time. At most a later raised().
  std::uint64_t dropped() const { return dropped_.load(); }

 private:
  /// A percentage that a key has reached in a window.
  struct Mark {
    std::uint64_t hash = 0;
    Instant until{};
  };
  using Set = std::array<Mark, entries_per_set>;

  bool mark(const QuotaEvent& event);

  store::KeyHash hash_;
  std::mutex mutex_;
  std::vector<Set> sets_;
  std::vector<QuotaEvent> pending_;
  std::atomic<std::uint64_t> raised_{0};
  std::atomic<std::uint64_t> dropped_{0};
};

/// Raises the events of a decided request. `percents`: 1 to 100. `asked_at`: before the store
/// decided, so that no mark outlives the window that the store has.
void raise_events(const Verdict& verdict, std::span<const int> percents, const Limiter& limiter,
                  Instant asked_at, QuotaEvents& to);

}  // namespace weir::limiter
