// The remembered denials of Redis, for whole requests.
//
// Shared by two links: Denials, which denies and remembers, and SingleFlight, which looks again
// when an answer has arrived. Belongs to one worker.
#pragma once

#include <optional>

#include "base/time.hpp"
#include "store/chain_counters.hpp"
#include "store/denial_confirmation.hpp"
#include "store/denial_memory.hpp"
#include "store/store.hpp"

namespace weir::store {

/// Whether a denial of these claims determines the result of the same request later: it is not
/// charged, and each claim is decided by its key alone. Pure.
bool may_be_remembered(std::span<const Claim> claims);

/// Whether the same request would pass right after this decided acquisition. False if that is
/// unknown. Pure.
bool leaves_enough(const Acquisition& acquisition);

class KnownDenials {
 public:
  /// `confirmation`: of the memory; nullptr: its denials need none.
  KnownDenials(DenialMemory& memory, ChainCounters& counters,
               DenialConfirmation* confirmation = nullptr)
      : memory_(memory), counters_(counters), confirmation_(confirmation) {}

  /// The result if one of the claims is remembered as denied. Writes the remembered decisions.
  std::optional<Result> recall(Acquisition& acquisition, Instant now) const;
  /// Remembers the decisions of Redis if the same request would be denied now.
  void remember(const Acquisition& acquisition, Instant now);
  void forget(const Key& key) { memory_.forget(key.identity, key.policy_id); }

 private:
  DenialMemory& memory_;
  ChainCounters& counters_;
  DenialConfirmation* confirmation_;
};

}  // namespace weir::store
