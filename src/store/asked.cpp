#include "store/asked.hpp"

#include "rules/rules.hpp"

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

template <class State>
void take(State& state, const Asked& asked, Instant now, std::int64_t units) {
  if constexpr (std::is_same_v<State, rules::AttributedWindowState>) {
    charge(*asked.policy, state, now, units, asked.claim->attributes);
  } else {
    charge(*asked.policy, state, now, units);
  }
}

bool taken(const Asked& asked, bool admitted) {
  return admitted && asked.admission.allowed;
}

std::int64_t units_due(const Asked& asked, bool admitted) {
  if (taken(asked, admitted)) return asked.admission.units;
  return asked.policy->count_rejected ? asked.claim->demand.cost : 0;
}

/// A look (cost 0) does not show whether the key is being denied.
void mark(Slot& slot, const Asked& asked) {
  if (asked.claim->demand.cost > 0) slot.denied = !asked.admission.allowed;
}

}  // namespace

void ask(Asked& leader, Instant now) {
  rules::with_state_of(leader.policy->algorithm, [&]<class State>(const State& fresh) {
    const State* const stored = present<State>(leader);
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
  if (is_decided_by_override(asked)) {
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
