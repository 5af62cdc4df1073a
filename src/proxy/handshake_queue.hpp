// Which TLS handshake of a worker goes on next, and which one has to leave when there are too many.
// Decides and never acts (Handshakes does).
//
// A handshake waits for its turn, begins with its first one, and is then in progress until it
// leaves. Handshakes in progress and those that have not begun get turns alternately, each kind in
// the order of asking: neither can hold up the other. Entries are linked, never owned or allocated.
// Not thread-safe: one loop.
#pragma once

#include <cstddef>

#include <boost/intrusive/list.hpp>

namespace weir::proxy {

class HandshakeQueue {
  using Hook = boost::intrusive::list_member_hook<>;

 public:
  /// Derive from it what is queued. It has to leave before it is destroyed.
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

  /// Asks for a turn. It does not wait for one yet.
  void wait(Entry& entry) { (entry.is_in_progress() ? continuing_ : beginning_).push_back(entry); }
  /// Does not want its turn any more; nothing happens if it does not wait.
  void withdraw(Entry& entry) {
    if (!entry.is_waiting()) return;
    Waiting& queue = entry.is_in_progress() ? continuing_ : beginning_;
    queue.erase(queue.iterator_to(entry));
  }

  /// Whose turn it is: that entry no longer waits. nullptr if none does.
  Entry* next() {
    const bool begins = continuing_.empty() || (!beginning_.empty() && has_continued_);
    Waiting& queue = begins ? beginning_ : continuing_;
    if (queue.empty()) return nullptr;
    has_continued_ = !begins;
    Entry& entry = queue.front();
    queue.pop_front();
    return &entry;
  }

  /// The entry is in progress from here on, as the newest. Returns the oldest if there are more
  /// than `most` now, which has to leave; else nullptr.
  Entry* begin(Entry& entry, std::size_t most) {
    in_progress_.push_back(entry);
    return oldest_beyond(most);
  }
  /// The oldest if more than `most` are in progress; else nullptr.
  Entry* oldest_beyond(std::size_t most) {
    return in_progress_.size() > most ? &in_progress_.front() : nullptr;
  }
  /// Is neither waiting nor in progress any more.
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
  bool has_continued_ = false;  ///< the last turn
};

}  // namespace weir::proxy
