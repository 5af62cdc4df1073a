// An acquisition in the single flight link: it asks the next store, or waits for another that does.
//
// Waiting acquisitions form a ring with the one that asks, in order of arrival.
#pragma once

#include <optional>

#include "base/ring.hpp"
#include "store/denial_memory.hpp"
#include "store/store.hpp"

namespace weir::store {

class SingleFlight;

struct Flight final : Completion, Ring<Flight> {
  explicit Flight(SingleFlight& its_link) : link(its_link) {}
  void complete(const Result& result, Instant now) noexcept override;

  SingleFlight& link;
  Acquisition* acquisition = nullptr;
  Completion* caller = nullptr;
  DenialMemory::Key key;   ///< of an acquisition that asks; others wait for its answer
  bool is_merged = false;  ///< it waits, and is rejected together with the one that asks
};

}  // namespace weir::store
