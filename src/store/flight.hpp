// An acquisition in the single flight link: it asks the next store, or waits for another that does.
//
// Waiting acquisitions form a ring with the one that asks, in order of arrival.
#pragma once

#include <optional>

#include "store/denial_memory.hpp"
#include "store/store.hpp"

namespace weir::store {

class SingleFlight;

struct Flight final : Completion {
  explicit Flight(SingleFlight& its_link) : link(its_link) {}
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;
  void complete(const Result& result, Instant now) noexcept override;

  bool is_linked() const { return next != this; }
  void unlink() {
    previous->next = next;
    next->previous = previous;
    previous = next = this;
  }
  void link_before(Flight& position) {
    previous = position.previous;
    next = &position;
    previous->next = this;
    position.previous = this;
  }

  SingleFlight& link;
  Acquisition* acquisition = nullptr;
  Completion* caller = nullptr;
  DenialMemory::Key key;   ///< of an acquisition that asks; others wait for its answer
  bool is_merged = false;  ///< it waits, and is rejected together with the one that asks
  Flight* previous = this;
  Flight* next = this;
};

}  // namespace weir::store
