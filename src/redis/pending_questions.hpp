// Questions on their way, by their deadline: the first is the first to run out of time, and one
// timer suffices. Nearly all have the same time to be answered, so a new one goes to the end.
//
// One that has been told of its timeout stays on its way until its reply or the connection's end.
// Entries are reused, buffers included: in the steady state nothing is allocated. Not thread-safe.
#pragma once

#include <deque>

namespace weir::redis {

/// A chain that an entry is in at most one of.
struct PendingLink {
  PendingLink() = default;
  PendingLink(const PendingLink&) = delete;
  PendingLink& operator=(const PendingLink&) = delete;

  bool is_linked() const { return next != this; }
  void unlink() {
    previous->next = next;
    next->previous = previous;
    previous = next = this;
  }
  void link_before(PendingLink& position) {
    previous = position.previous;
    next = &position;
    previous->next = this;
    position.previous = this;
  }

  PendingLink* previous = this;
  PendingLink* next = this;
};

/// `Entry` derives from PendingLink and has a deadline.
template <class Entry>
class PendingQuestions {
 public:
  /// `arguments` are for the constructor of one that has not been used before.
  template <class... Arguments>
  Entry& take(Arguments&... arguments) {
    Entry* const used = first_of(free_);
    if (used == nullptr) return entries_.emplace_back(arguments...);
    used->unlink();
    return *used;
  }
  void give_back(Entry& entry) {
    entry.unlink();
    entry.link_before(*free_.next);  // the last one used is the first to be used again
  }

  void push(Entry& entry) {
    PendingLink* position = &waiting_;
    while (position->previous != &waiting_ &&
           entry.deadline < static_cast<Entry*>(position->previous)->deadline)
      position = position->previous;
    entry.link_before(*position);
  }
  /// Of those that still wait the one with the earliest deadline.
  Entry* first() { return first_of(waiting_); }

 private:
  static Entry* first_of(PendingLink& chain) {
    return chain.is_linked() ? static_cast<Entry*>(chain.next) : nullptr;
  }

  std::deque<Entry> entries_;
  PendingLink free_;
  PendingLink waiting_;
};

}  // namespace weir::redis
