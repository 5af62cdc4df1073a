// Decides which TLS handshake of a worker continues next, and which one is closed when there are
// too many. Performs nothing itself (see Handshakes).
//
// A handshake waits for its turn, begins with its first one, and is then in progress until it
// leaves. Handshakes in progress and those that have not begun get turns alternately, each kind in
// first-come order, so neither delays the other. Entries are linked, never owned or allocated. Not
// thread-safe: one loop.
#pragma once

#include <cstddef>

#include <boost/intrusive/list.hpp>

namespace weir::loop {

class HandshakeQueue {
  using Hook = boost::intrusive::list_member_hook<>;

 public:
  /// Base class of queued objects. It must have left before it is destroyed.
  class Entry {
   public:
    Entry() = default;
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    bool is_waiting() const { return waiting_.is_linked(); }
    bool is_in_progress() const { return in_progress_.is_linked(); }

   private:
    friend HandshakeQueue;
    Hook waiting_;
    Hook in_progress_;
  };

  /// Queues the entry for a turn. It must not be waiting already.
  void wait(Entry& entry) { (entry.is_in_progress() ? continuing_ : beginning_).push_back(entry); }
  /// Removes the entry from the queue; does nothing if it does not wait.
  void withdraw(Entry& entry) {
    if (!entry.is_waiting()) return;
    Waiting& queue = entry.is_in_progress() ? continuing_ : beginning_;
    queue.erase(queue.iterator_to(entry));
  }

  /// Returns the entry whose turn it is, which no longer waits; nullptr if none waits.
  Entry* next() {
    const bool begins = continuing_.empty() || (!beginning_.empty() && has_continued_);
    Waiting& queue = begins ? beginning_ : continuing_;
    if (queue.empty()) return nullptr;
    has_continued_ = !begins;
    Entry& entry = queue.front();
    queue.pop_front();
    return &entry;
  }

  /// Marks the entry as in progress, as the newest. If more than `most` are now in progress,
  /// returns the oldest, which has to leave; else nullptr.
  Entry* begin(Entry& entry, std::size_t most) {
    in_progress_.push_back(entry);
    return oldest_beyond(most);
  }
  /// Returns the oldest if more than `most` are in progress; else nullptr.
  Entry* oldest_beyond(std::size_t most) {
    return in_progress_.size() > most ? &in_progress_.front() : nullptr;
  }
  /// Removes the entry: it is neither waiting nor in progress any more.
  void leave(Entry& entry) {
    withdraw(entry);
    if (entry.is_in_progress()) in_progress_.erase(in_progress_.iterator_to(entry));
  }
  std::size_t waiting() const { return continuing_.size() + beginning_.size(); }
  std::size_t in_progress() const { return in_progress_.size(); }

 private:
  template <Hook Entry::*hook>
  using List = boost::intrusive::list<Entry, boost::intrusive::member_hook<Entry, Hook, hook>>;
  using Waiting = List<&Entry::waiting_>;

  Waiting continuing_;
  Waiting beginning_;
  List<&Entry::in_progress_> in_progress_;
  bool has_continued_ = false;  ///< the last turn went to a handshake in progress
};

}  // namespace weir::loop
