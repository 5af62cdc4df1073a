// Decides whether a denied request waits for a slot, and for which limit. Pure.
//
// A request waits if every limit that denies it does so only because other requests hold units, and
// one of them has a queue. A shadow limit does not deny. docs/holds.md describes the effect.
#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "limiter/evaluation.hpp"
#include "limiter/slot_queue.hpp"
#include "store/store.hpp"

namespace weir::limiter {

/// True if a claim of the evaluation has a queue.
bool has_queue(const Evaluation& evaluation);

/// Prepares the first question of a request that may wait. If requests already wait for a slot that
/// it needs, it must not take one before them: the claim is given a cost that never fits, so that
/// the store decides about the other limits only.
void hold_back_if_others_wait(Evaluation& evaluation, const SlotQueue& queue);

/// Restores the cost of a claim that was held back, and gives it the decision of a full limit.
void restore_held_back(Evaluation& evaluation, const store::Result& result);

/// Sets `waits_for` of an evaluation that has its verdict, and returns whether the request waits.
/// The policy for which an admitted request has waited is counted as delayed. Call
/// restore_held_back() first.
bool note_wait(Evaluation& evaluation, const store::Result& result);

/// Removes the limits that do not deny from the verdict of a denied request.
void keep_denials(Evaluation& evaluation);

/// The key of the limit that the evaluation waits for.
inline store::Key awaited_key(const Evaluation& evaluation) {
  const store::Claim& claim = evaluation.claims[*evaluation.waits_for];
  return {.identity = claim.identity, .policy_id = claim.policy_id};
}
/// Its policy.
inline const Policy& awaited_policy(const Evaluation& evaluation) {
  return *evaluation.policies[*evaluation.waits_for].policy;
}

/// True if a denial charges a claim. Such a request looks before it asks again, so that it is
/// counted as rejected once, when it begins to wait.
bool counts_rejected(const Evaluation& evaluation);

/// Whether a look at the keys has found the units that the evaluation waits for, or has failed.
bool has_room(const Evaluation& evaluation, const store::Result& look);

/// When a denied request asks again.
struct Pause {
  Duration least{0};  ///< after a release
  Duration poll{0};   ///< without one
};

/// Releases of the memory store are reported to those that wait, so a question without one only
/// finds an override, or a reset of the key. In Redis other instances release units too. `random`:
/// any bits; they keep instances from polling at the same time.
Pause pause_after(store::Decider decider, std::uint64_t random);

/// Reports the releases of settled units to the requests that wait.
void report_released(SlotQueue& queue, const HeldUnits& held);

}  // namespace weir::limiter
