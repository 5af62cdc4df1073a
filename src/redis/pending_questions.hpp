// The questions without an answer, in order of their deadlines, so that one timer suffices. Nearly
// all have the same timeout, so a new one goes to the end.
//
// An entry stays in use after its timeout, until its reply arrives or the connection ends. Entries
// and their buffers are used again: in the steady state nothing is allocated. Not thread-safe.
#pragma once

#include <deque>

namespace weir::redis {

/// Makes an entry a member of a list, of one at a time.
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

/// `Entry` derives from PendingLink and has a member `deadline`.
template <class Entry>
class PendingQuestions {
 public:
  /// Returns an unused entry. `arguments` go to its constructor if it is new.
  template <class... Arguments>
  Entry& take(Arguments&... arguments) {
    Entry* const used = first_of(free_);
    if (used == nullptr) return entries_.emplace_back(arguments...);
    used->unlink();
    return *used;
  }
  void give_back(Entry& entry) {
    entry.unlink();
    entry.link_before(*free_.next);  // its buffers are in the cache
  }

  void push(Entry& entry) {
    PendingLink* position = &waiting_;
    while (position->previous != &waiting_ &&
           entry.deadline < static_cast<Entry*>(position->previous)->deadline)
      position = position->previous;
    entry.link_before(*position);
  }
  /// The question with the earliest deadline; nullptr if there is none.
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
