#include "store/held_key.hpp"

#include <limits>

#include "rules/holds.hpp"

namespace weir::store {
namespace {

/// The key's state with holds, or nullptr.
template <class State>
Beside<State>* beside_in(Slot* slot, rules::Algorithm algorithm) {
  if (!slot || !slot->has_beside() || slot->kind() != algorithm) return nullptr;
  return &state_in<Beside<State>>(*slot);
}

/// The key's state without holds, or nullptr.
template <class State>
State* alone_in(Slot* slot, rules::Algorithm algorithm) {
  if (!slot || slot->algorithm != algorithm) return nullptr;
  return &state_in<State>(*slot);
}

/// Gives the key a state with holds. Keeps a state of the same algorithm; one of another algorithm
/// is dropped with its holds.
template <class State>
Beside<State>& widen(Shard& shard, Slot*& slot, std::uint64_t hash, rules::Algorithm algorithm) {
  if (Beside<State>* const present = beside_in<State>(slot, algorithm)) return *present;
  if (!slot) {
    slot = &shard.insert(hash);
    return put_beside<State>(*slot, algorithm);
  }
  Slot wide = *slot;
  put_beside<State>(wide, algorithm);
  if (State* const alone = alone_in<State>(slot, algorithm))
    state_in<Beside<State>>(wide).state = std::move(*alone);
  shard.add_held(-held_in(*slot));
  release(*slot);
  *slot = wide;
  return state_in<Beside<State>>(*slot);
}

/// Repays debt. A state that is whole becomes fresh, as if the key had been dropped: otherwise a
/// longer window after a reload would count its units again.
template <class State>
void refresh(const rules::Policy& policy, Beside<State>& key, Instant now) {
  repay(policy, key.state, key.holds, now);
  if (key.holds.debt == 0 && whole_at(policy, key.state) <= now) key.state = State{};
}

/// Only keys that hold units are pinned; a long debt is not.
template <class State>
void set_whole_at(Slot& slot, const rules::Policy& policy, const Beside<State>& key) {
  constexpr std::uint32_t pinned = std::numeric_limits<std::uint32_t>::max();
  const std::uint32_t whole_at_s = ceil_s(whole_beside(policy, key.state, key.holds));
  slot.whole_at_s = key.holds.held > 0 ? pinned : std::min(whole_at_s, pinned - 1);
}

/// Takes the units that are due for a claim. Returns those that are held from now on.
template <class State>
std::int64_t take_or_hold(Beside<State>& key, const Asked& asked, Instant now, bool admitted) {
  if (!admitted || !asked.admission.allowed) {
    take(key.state, asked, now, asked.claim->demand.cost);
    return 0;
  }
  if (!asked.claim->holds) {
    take(key.state, asked, now, asked.admission.units);
    return 0;
  }
  const std::int64_t before = key.holds.held;
  rules::hold(key.holds, asked.admission.units);
  return key.holds.held - before;
}

/// Writes the decision of a settled claim.
template <class State>
void write_decision(Asked& asked, const State& state, const rules::Holds& holds, Instant now,
                    bool admitted) {
  if (asked.policy->count_rejected && asked.admission.allowed && !admitted) {
    asked.admission.retry_after =
        admit_beside(*asked.policy, state, holds, now, asked.claim->demand).retry_after;
  }
  *asked.decision = decision_beside(*asked.policy, state, holds, now, asked.admission);
  if (asked.claim->holds && admitted && asked.admission.allowed)
    asked.decision->held = asked.admission.units;
}

/// Charges a state for a settlement.
template <class State>
void charge_for(State& state, const HoldEnd& end, Instant now, std::int64_t units) {
  if constexpr (std::is_same_v<State, rules::AttributedWindowState>) {
    const std::vector<std::string_view> texts(end.attributes.begin(), end.attributes.end());
    charge(*end.policy, state, now, units, texts);
  } else if constexpr (!std::is_same_v<State, rules::ConcurrencyState>) {
    charge(*end.policy, state, now, units);
  }
}

/// Gives units back to a key without holds, which keeps its form. A state of another algorithm has
/// none of them.
template <class State>
void refund_alone(Slot* slot, const HoldEnd& end, Instant now) {
  State* const state = alone_in<State>(slot, end.policy->algorithm);
  if (state == nullptr) return;
  refund(*end.policy, *state, now, -std::max(end.actual, -rules::exact_limit));
  slot->whole_at_s = ceil_s(whole_at(*end.policy, *state));
  slot->denied = level(*end.policy, *state, now).remaining == 0;
}

}  // namespace

bool holds_any(const Asked& leader) {
  for (const Asked* asked = &leader; asked; asked = asked->next) {
    if (asked->claim->holds) return true;
  }
  return false;
}

void ask_beside(Asked& leader, Instant now) {
  const rules::Algorithm algorithm = leader.policy->algorithm;
  rules::with_state_of(algorithm, [&]<class State>(const State& fresh) {
    Beside<State>* const key = beside_in<State>(leader.slot, algorithm);
    if (key) refresh(*leader.policy, *key, now);
    const State* const alone = alone_in<State>(leader.slot, algorithm);
    const State& state = key ? key->state : alone ? *alone : fresh;
    rules::Holds holds = key ? key->holds : rules::Holds{};
    if (!leader.next) {
      leader.admission = admit_beside(*leader.policy, state, holds, now, leader.claim->demand);
      return;
    }
    State expected = state;
    for (Asked* asked = &leader; asked; asked = asked->next) {
      asked->admission = admit_beside(*asked->policy, expected, holds, now, asked->claim->demand);
      if (!asked->admission.allowed) continue;
      if (asked->claim->holds) {
        rules::hold(holds, asked->admission.units);
      } else {
        take(expected, *asked, now, asked->admission.units);
      }
    }
  });
}

void settle_beside(Asked& leader, Instant now, bool admitted) {
  const rules::Algorithm algorithm = leader.policy->algorithm;
  rules::with_state_of(algorithm, [&]<class State>(const State& fresh) {
    Beside<State>* key = beside_in<State>(leader.slot, algorithm);
    for (Asked* asked = &leader; asked; asked = asked->next) {
      if (units_due(*asked, admitted) == 0) continue;
      if (!key) {
        key = &widen<State>(*leader.shard, leader.slot, leader.hash, algorithm);
        refresh(*leader.policy, *key, now);
      }
      leader.shard->add_held(take_or_hold(*key, *asked, now, admitted));
    }
    if (key) set_whole_at(*leader.slot, *leader.policy, *key);
    const State* const alone = alone_in<State>(leader.slot, algorithm);
    const State& state = key ? key->state : alone ? *alone : fresh;
    const rules::Holds holds = key ? key->holds : rules::Holds{};
    for (Asked* asked = &leader; asked; asked = asked->next) {
      if (key || alone) mark(*leader.slot, *asked);
      write_decision(*asked, state, holds, now, admitted);
    }
    if (holds.held > 0) leader.slot->denied = true;
  });
}

bool end_hold(Shard& shard, const HoldEnd& end) {
  const rules::Policy& policy = *end.policy;
  Slot* slot = shard.find(end.hash);
  return rules::with_state_of(policy.algorithm, [&]<class State>(const State&) {
    constexpr bool charges = !std::is_same_v<State, rules::ConcurrencyState>;
    if (!beside_in<State>(slot, policy.algorithm)) {
      if (!charges || end.actual == 0) return true;
      if (end.actual < 0) {
        refund_alone<State>(slot, end, shard.latest());
        return true;
      }
      if (slot && slot->kind() != policy.algorithm) return false;
    }
    Beside<State>& key = widen<State>(shard, slot, end.hash, policy.algorithm);
    const std::int64_t before = key.holds.held;
    refresh(policy, key, shard.latest());
    settle(policy, key.state, key.holds, shard.latest(), end.held, end.actual,
           [&](std::int64_t units) { charge_for(key.state, end, shard.latest(), units); });
    shard.add_held(key.holds.held - before);
    set_whole_at(*slot, policy, key);
    // A key that is empty stays protected from eviction until a request shows that it is not.
    slot->denied = key.holds.held > 0 ||
                   level_beside(policy, key.state, key.holds, shard.latest()).remaining == 0;
    return true;
  });
}

}  // namespace weir::store
