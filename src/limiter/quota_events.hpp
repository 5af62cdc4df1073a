// The events of keys that reach a percentage of their quota: found among decided requests, raised
// once in a window, and kept until a reader takes them.
//
// The window of `fixed_window` and `attributed_window` is that of the key. The other algorithms
// refill all the time: a window begins with an event, and is as long as the time in which the whole
// quota refills; with `concurrency`, slot_event_window.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "limiter/limiter.hpp"
#include "limiter/top_keys.hpp"
#include "limiter/verdict.hpp"
#include "store/key_hash.hpp"
#include "store/store.hpp"

namespace weir::limiter {

/// The largest number of percentages; the loader refuses more.
inline constexpr std::size_t event_percent_limit = 8;
/// The window of events of `concurrency`.
inline constexpr Duration slot_event_window = std::chrono::seconds(60);

/// A window as the decision of a request shows it.
struct EventWindow {
  Instant ends_at{};
  /// A window that ends at this time or before is an earlier one. The end of a fixed window is only
  /// known up to the time that the decision took, so two ends that are near each other are one.
  Instant earlier_until{};
  friend bool operator==(const EventWindow&, const EventWindow&) = default;
};

/// A key has reached a percentage of its quota.
struct QuotaEvent {
  store::Key key{};
  std::uint32_t identity_id = 0;  ///< the id of the identity's name: NameIds::identity()
  int percent = 0;
  std::int64_t used = 0;  ///< units, after the request; held units count
  std::int64_t limit = 0;
  bool counts_slots = false;  ///< of `concurrency`: there is no time after which it is whole
  Duration whole_after{0};    ///< until the quota is whole without further requests
  Instant at{};
  EventWindow window{};
};

/// True if the use of the key is at the percentage of its quota or above it. False for an identity
/// that an override exempts or denies. Pure.
bool is_reached(const LimitVerdict& limit, int percent);

/// The window of a decision that was requested at this time. Pure.
EventWindow event_window(const LimitVerdict& limit, Instant asked_at);

/// The results of the events of a policy and a percentage.
enum class EventResult : std::uint8_t {
  logged,
  elsewhere,  ///< another instance has reported it
  dropped,    ///< no reader took it in time, or there are too many marks
};
inline constexpr std::size_t event_result_count = 3;
using EventCounts = std::array<std::uint64_t, event_result_count>;

/// Thread-safe. Takes its lock, and its memory, only for events that have no mark in their window.
class QuotaEvents {
 public:
  // 65,536 marks of 16 bytes. Half as many fill hardly any set.
  static constexpr std::size_t sets = 8192;
  static constexpr std::size_t entries_per_set = 8;
  static constexpr std::size_t most_pending = 1024;

  /// `seed`: random in production, so that clients cannot choose keys that share a set.
  explicit QuotaEvents(std::uint64_t seed) : hash_(seed) {}

  /// Keeps the event, unless the same was raised in its window. Beyond `most_pending` it is
  /// dropped, until its next window. It is also dropped while all marks of its set are those of
  /// windows that have not ended, because it could be raised again and again.
  void raise(const QuotaEvent& event);
  /// Returns the first `most` events that were not taken yet, in their order.
  std::vector<QuotaEvent> take(std::size_t most = most_pending);

  /// Another instance has raised the event in a window that ends at this time.
  void adopt(const QuotaEvent& event, Instant ends_at);
  /// The key was reset: its events may be raised again.
  void forget(const store::Key& key);
  /// Any key may have been reset: all events may be raised again.
  void forget_all();
  /// True if it remembers no event.
  bool is_unused() const { return table_.load() == nullptr; }

  void count(const QuotaEvent& event, EventResult result);
  /// By EventResult.
  EventCounts counts(std::uint32_t policy_id, int percent) const;

 private:
  /// A percentage that a key has reached in a window. Read without the lock: a reader that sees
  /// half of a replacement takes the lock, or misses one request of a key that was just forgotten.
  struct Mark {
    std::atomic<std::uint64_t> hash{0};
    std::atomic<std::int64_t> ends_us{0};
  };
  using Set = std::array<Mark, entries_per_set>;

  std::uint64_t hash_of(const store::Key& key, int percent) const;
  bool is_marked(const QuotaEvent& event) const;
  bool mark(const QuotaEvent& event, Instant ends_at);
  Mark* find(std::uint64_t hash) const;

  store::KeyHash hash_;
  mutable std::mutex mutex_;
  std::atomic<Set*> table_{nullptr};  ///< `sets` of them; nullptr before the first event
  std::unique_ptr<Set[]> memory_;     ///< of the table
  std::deque<QuotaEvent> pending_;
  std::map<std::pair<std::uint32_t, int>, EventCounts> counts_;  ///< by policy and percentage
};

/// The source of events: the limiter that has decided, the ids of its configuration, and the time
/// before the store decided, so that no mark outlives the window that the store has.
struct EventSource {
  const Limiter& limiter;
  const NameIds& ids;
  Instant asked_at{};
};

/// Raises the events of a decided request. `percents`: 1 to 100, ascending.
void raise_events(const Verdict& verdict, std::span<const int> percents, const EventSource& source,
                  QuotaEvents& to);

}  // namespace weir::limiter
