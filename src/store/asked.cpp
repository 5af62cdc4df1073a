#include "store/asked.hpp"

#include "rules/rules.hpp"
#include "store/held_key.hpp"

namespace weir::store {
namespace {

/// Calls `visit` for every claim of the chain, in the request's order.
template <class Visitor>
void each(Asked& leader, Visitor&& visit) {
  for (Asked* asked = &leader; asked; asked = asked->next)
    visit(*asked);
}

/// The key's state, or nullptr. A state of another algorithm, from before a reload, does not count.
template <class State>
State* present(const Asked& leader) {
  if (!leader.slot || leader.slot->algorithm != leader.policy->algorithm) return nullptr;
  return &state_in<State>(*leader.slot);
}

template <class State>
State& create(Asked& leader) {
  if (leader.slot) {
    release(*leader.slot);
  } else {
    leader.slot = &leader.shard->insert(leader.hash);
  }
  return put_state<State>(*leader.slot, leader.policy->algorithm);
}

/// The key has a state with holds, of any algorithm. Only called when the state is not present, so
/// that other keys do not pay for it.
bool needs_beside(const Asked& leader) {
  return leader.slot && leader.slot->has_beside();
}

}  // namespace

void ask(Asked& leader, Instant now) {
  rules::with_state_of(leader.policy->algorithm, [&]<class State>(const State& fresh) {
    const State* const stored = present<State>(leader);
    if (!stored && needs_beside(leader)) return ask_beside(leader, now);
    const State& state = stored ? *stored : fresh;
    if (!leader.next) {
      leader.admission = admit(*leader.policy, state, now, leader.claim->demand);
      return;
    }
    State expected = state;
    each(leader, [&](Asked& asked) {
      asked.admission = admit(*asked.policy, expected, now, asked.claim->demand);
      if (asked.admission.allowed) take(expected, asked, now, asked.admission.units);
    });
  });
}

void conclude_override(const Asked& asked) {
  const OverrideInForce& in_force = asked.override_in_force;
  rules::Decision& decision = *asked.decision;
  if (needs_no_state(asked)) {
    const bool allowed = asked.admission.allowed;
    decision = {.allowed = allowed,
                .limit = asked.policy->capacity,
                .remaining = allowed ? asked.policy->capacity : 0};
  }
  decision.override_effect = in_force.effect;
  if (in_force.numbers != nullptr) decision.refill = in_force.numbers->refill;
  decision.ends_after = in_force.ends_after;
}

void settle(Asked& leader, Instant now, bool admitted) {
  rules::with_state_of(leader.policy->algorithm, [&]<class State>(const State& fresh) {
    State* state = present<State>(leader);
    if (!state && needs_beside(leader)) return settle_beside(leader, now, admitted);
    each(leader, [&](Asked& asked) {
      const std::int64_t units = units_due(asked, admitted);
      if (units == 0) return;
      if (!state) state = &create<State>(leader);
      take(*state, asked, now, units);
    });
    if (state) leader.slot->whole_at_s = ceil_s(whole_at(*leader.policy, *state));
    each(leader, [&](Asked& asked) {
      if (state) mark(*leader.slot, asked);
      const rules::Policy& policy = *asked.policy;
      const State& settled = state ? *state : fresh;
      // This claim was charged although another one denied the request, so the next such request
      // may have to wait for this key too.
      if (policy.count_rejected && asked.admission.allowed && !admitted) {
        asked.admission.retry_after = admit(policy, settled, now, asked.claim->demand).retry_after;
      }
      *asked.decision = decision_of(policy, settled, now, asked.admission);
    });
  });
}

}  // namespace weir::store
