// Entries in order of their deadlines, so that one timer suffices. Nearly all have the same
// timeout, so a new one goes to the end.
//
// Entries and their buffers are used again: in the steady state nothing is allocated. Not
// thread-safe.
#pragma once

#include <deque>

#include "base/ring.hpp"

namespace weir::redis {

/// Makes an entry a member of a list, of one at a time.
struct DeadlineLink : Ring<DeadlineLink> {};

/// `Entry` derives from DeadlineLink and has a member `deadline`.
template <class Entry>
class DeadlineQueue {
 public:
  /// Returns an unused entry. `arguments` go to its constructor if it is new.
  template <class... Arguments>
  Entry& take(Arguments&... arguments) {
    Entry* const used = first_of(free_);
    if (used == nullptr) return entries_.emplace_back(arguments...);
    used->unlink();
    return *used;
  }
  /// Ends the use of an entry, which may be a member of a list.
  void give_back(Entry& entry) {
    entry.unlink();
    entry.link_before(*free_.next());  // its buffers are in the cache
  }

  /// Adds an entry after those with the same deadline or an earlier one.
  void push(Entry& entry) {
    DeadlineLink* position = &waiting_;
    while (position->previous() != &waiting_ &&
           entry.deadline < static_cast<Entry*>(position->previous())->deadline)
      position = position->previous();
    entry.link_before(*position);
  }
  /// The entry with the earliest deadline; nullptr if there is none.
  Entry* first() { return first_of(waiting_); }

 private:
  static Entry* first_of(DeadlineLink& chain) {
    return chain.is_linked() ? static_cast<Entry*>(chain.next()) : nullptr;
  }

  std::deque<Entry> entries_;
  DeadlineLink free_;
  DeadlineLink waiting_;
};

}  // namespace weir::redis
