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

/// Whether equal requests with these claims can be rejected together: a denial is charged, and all
/// of them are denied if one is. Never for claims that hold. Pure.
bool may_be_merged(std::span<const Claim> claims);

class KnownDenials {
 public:
  /// A refund is sent within this time. A question that is sent before may be answered without it.
  static constexpr Duration refund_sent_after = std::chrono::milliseconds(50);

  /// `confirmation`: of the memory; nullptr: its denials need none.
  KnownDenials(DenialMemory& memory, ChainCounters& counters,
               DenialConfirmation* confirmation = nullptr)
      : memory_(memory), counters_(counters), confirmation_(confirmation) {}

  /// The result if one of the claims is remembered as denied, and the states of the others are
  /// known. Writes the decisions. If the denied key has caused many questions about unknown states,
  /// the result omits them.
  std::optional<Result> recall(Acquisition& acquisition, Instant now) const;
  /// Brings the states of the keys up to date by the decisions of Redis. Keeps them if the same
  /// request would be denied now. Forgets those that holds affect: they change with any settlement.
  void remember(const Acquisition& acquisition, bool admitted, Instant now);
  void forget(const Key& key) { memory_.forget(key.identity, key.policy_id); }
  /// Units of the key are about to be given back: its denials do not hold any more.
  void on_refund(const Key& key, Instant now) {
    memory_.discard(key.identity, key.policy_id, now + refund_sent_after);
  }

 private:
  DenialMemory& memory_;
  ChainCounters& counters_;
  DenialConfirmation* confirmation_;
};

}  // namespace weir::store
