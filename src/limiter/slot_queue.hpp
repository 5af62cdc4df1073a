// The requests of this instance that wait for a slot of a concurrency limit, first come first
// served for each key.
//
// Each waiting request has a ticket in the line of one key. Only the first ticket of a line asks
// the store, so a later request cannot overtake it. A line exists only while it has tickets. A
// release is never missed: a ticket joins before it asks, and a release between its question and
// the answer lets it ask again.
//
// Time is an argument. Thread-safe: shared by all workers, with one lock. While nobody waits, no
// function that a request calls takes it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include <boost/intrusive/list.hpp>

#include "base/time.hpp"
#include "store/store.hpp"

namespace weir::limiter {

/// A place in a line. Leaves before it is destroyed.
class QueueTicket : public boost::intrusive::list_base_hook<> {
 public:
  QueueTicket() = default;
  QueueTicket(const QueueTicket&) = delete;
  QueueTicket& operator=(const QueueTicket&) = delete;

 protected:
  virtual ~QueueTicket() = default;

 private:
  friend class SlotQueue;
  /// Requests a call of SlotQueue::due(), which may return another instant now. Called on any
  /// thread with the queue locked, so the ticket is in a line. Returns false if it could not.
  virtual bool call() noexcept = 0;

  store::Key key_;
  std::uint64_t number_ = 0;    ///< by arrival; 0: in no line
  std::uint64_t releases_ = 0;  ///< of its line, when it asked
  bool is_called_ = false;      ///< since due()
};

class SlotQueue {
 public:
  SlotQueue() = default;
  SlotQueue(const SlotQueue&) = delete;
  SlotQueue& operator=(const SlotQueue&) = delete;

  /// True if no ticket is in any line. Without the lock: a ticket that joins at the same time asks
  /// the store afterwards.
  bool is_empty() const { return tickets_.load(std::memory_order_relaxed) == 0; }
  bool has_waiting(const store::Key& key) const;

  /// Adds the ticket to the end of the line. False: `places` tickets are in it already. If it is
  /// the first, it is due at `asks_at`.
  bool join(QueueTicket& ticket, const store::Key& key, std::int64_t places, Instant asks_at);
  /// Moves the ticket to another line, before those that have arrived later. False: it is full, and
  /// the ticket is in no line any more. The next ticket of the line that it leaves is due.
  bool move(QueueTicket& ticket, const store::Key& key, std::int64_t places, Instant asks_at);
  /// When the ticket may ask the store: the first one of a line; Instant::max() for others, which
  /// are called when that changes.
  Instant due(QueueTicket& ticket);
  /// Call this before the ticket, which is due, asks the store.
  void begin(QueueTicket& ticket);
  /// The store has denied it. It is due again at `poll_at`, or after a release at `earliest`.
  void denied(QueueTicket& ticket, Instant earliest, Instant poll_at);
  enum class Leaves : std::uint8_t { admitted, denied };
  /// Removes the ticket. The next one is first; it is due at once if this one was admitted, since
  /// there may be more slots. Does nothing for a ticket in no line.
  void leave(QueueTicket& ticket, Leaves how);
  /// Units of the key were released: its first ticket may ask again.
  void released(const store::Key& key);

  std::size_t lines() const;  ///< keys with tickets

 private:
  struct Line {
    boost::intrusive::list<QueueTicket> tickets;
    Instant asks_at{};           ///< of the first ticket
    Instant earliest{};          ///< it may not be due before, even after a release
    std::uint64_t releases = 0;  ///< so far
  };
  struct KeyHash {
    std::size_t operator()(const store::Key& key) const {
      return static_cast<std::size_t>(key.identity.low ^ key.policy_id * 0x9e3779b97f4a7c15ULL);
    }
  };
  struct SameKey {
    bool operator()(const store::Key& a, const store::Key& b) const {
      return a.identity == b.identity && a.policy_id == b.policy_id;
    }
  };

  // The lock is held during these.
  struct Place {
    store::Key key;
    std::uint64_t number = 0;
    std::int64_t places = 0;
    Instant asks_at{};
  };
  bool insert(QueueTicket& ticket, const Place& place);
  void remove(QueueTicket& ticket, bool next_is_due);
  static void call_first(Line& line);

  mutable std::mutex mutex_;
  std::unordered_map<store::Key, Line, KeyHash, SameKey> lines_;
  std::uint64_t numbers_ = 0;
  std::atomic<std::size_t> tickets_{0};
};

}  // namespace weir::limiter
