// The simplest store, to compare others with: a map of states, one claim after another.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include "contract/store_under_test.hpp"
#include "rules/holds.hpp"
#include "store/looks.hpp"

namespace weir::store::test {

class StoreModel : public StoreUnderTest {
 public:
  bool acquire(std::span<const Claim> claims, Instant now,
               std::span<rules::Decision> decisions) override {
    now = latest_ = std::max(latest_, now);
    bool admitted = true;
    std::vector<rules::Admission> admissions;
    std::map<Place, Units> expected;
    const auto originals = claims;
    std::vector<Claim> as_in_force;
    for (const Claim& claim : originals)
      as_in_force.push_back(in_force(claim, now));
    claims = as_in_force;
    for (std::size_t i = 0; i < claims.size(); ++i) {
      const Claim& claim = claims[i];
      if (const auto alone = decided_alone(originals[i], now)) {
        admissions.push_back({.allowed = alone->allowed});
        admitted = admitted && (alone->allowed || claim.shadow);
        continue;
      }
      repay(*claim.policy, units_of(claim), now);
      Units& units = expected.try_emplace(key_of(claim), units_of(claim)).first->second;
      admissions.push_back(admission_of(claim, units, now));
      if (admissions.back().allowed) take_or_hold(claim, units, now, admissions.back().units);
      admitted = admitted && (admissions.back().allowed || claim.shadow);
    }
    for (std::size_t i = 0; i < claims.size(); ++i) {
      if (decided_alone(originals[i], now)) continue;
      const bool passed = admitted && admissions[i].allowed;
      if (passed) take_or_hold(claims[i], units_of(claims[i]), now, admissions[i].units);
      if (!passed && claims[i].policy->count_rejected) {
        take(claims[i], units_of(claims[i]), now, claims[i].demand.cost);
      }
    }
    for (std::size_t i = 0; i < claims.size(); ++i) {
      if (const auto alone = decided_alone(originals[i], now)) {
        decisions[i] = *alone;
        continue;
      }
      if (claims[i].policy->count_rejected && admissions[i].allowed && !admitted) {
        admissions[i].retry_after = admission_of(claims[i], units_of(claims[i]), now).retry_after;
      }
      const Units& units = units_of(claims[i]);
      decisions[i] = std::visit(
          [&](const auto& state) {
            return rules::decision_beside(*claims[i].policy, state, units.holds, now,
                                          admissions[i]);
          },
          units.state);
      if (claims[i].holds && admitted && admissions[i].allowed)
        decisions[i].held = admissions[i].units;
      const Override* const entry = entry_for(originals[i], now);
      if (entry == nullptr) continue;
      decisions[i].override_effect = rules::OverrideEffect::numbers;
      decisions[i].refill = entry->numbers.refill;
      if (entry->until) decisions[i].ends_after = *entry->until - now;
    }
    return admitted;
  }
  void peek(std::span<const Claim> claims, Instant now,
            std::span<rules::Decision> decisions) override {
    const Looks looks = looks_of(claims);
    acquire({looks.data(), looks.size()}, now, decisions);
  }
  std::int64_t held(const Claim& claim, Instant) override {
    const auto found = states_.find(key_of(claim));
    return found == states_.end() ? 0 : found->second.holds.held;
  }
  EntryReport entries(const Claim& claim, Instant now) override {
    const auto found = states_.find(key_of(claim));
    if (found == states_.end()) return {};
    const auto* const state = std::get_if<rules::AttributedWindowState>(&found->second.state);
    if (state == nullptr || whole_at(*claim.policy, *state) <= now) return {};
    const std::size_t shown = std::min(state->entries.size(), most_entries_shown);
    return {.entries = {state->entries.end() - static_cast<std::ptrdiff_t>(shown),
                        state->entries.end()},
            .is_complete = shown == state->entries.size()};
  }
  void forget(const Key& key) override { states_.erase({key.identity, key.policy_id}); }
  bool supports_holds() const override { return true; }
  void settle(std::span<const Settlement> settlements, Instant now) override {
    now = latest_ = std::max(latest_, now);
    for (const Settlement& settlement : settlements) {
      Claim claim;
      claim.policy = settlement.policy;
      claim.identity = settlement.key.identity;
      claim.policy_id = settlement.key.policy_id;
      const Override* const entry = entry_for(claim, now);
      const bool is_free = entry != nullptr && entry->kind == Override::Kind::unlimited;
      claim = in_force(claim, now);
      Units& units = units_of(claim);
      repay(*claim.policy, units, now);
      std::visit(
          [&](auto& state) {
            rules::settle(*claim.policy, state, units.holds, now, settlement.held,
                          is_free ? 0 : settlement.actual);
          },
          units.state);
    }
  }
  /// The units held by all keys.
  std::int64_t holds() const {
    std::int64_t sum = 0;
    for (const auto& [place, units] : states_)
      sum += units.holds.held;
    return sum;
  }

  OverrideReport put(const Hash128& identity, const Override& entry, Instant now) override {
    remove(identity, entry.policy, now);
    if (std::ranges::count(overrides_, identity, &Owned::identity) >= 16)
      return {.outcome = OverrideReport::Outcome::full};
    Owned& owned = overrides_.emplace_back(identity, entry);
    for (const PlanNumbers& one : entry.plan) {
      Override& as = owned.planned[one.policy_id] = entry;
      as.kind = one.numbers ? Override::Kind::numbers : Override::Kind::unlimited;
      as.numbers = one.numbers.value_or(rules::Policy{});
    }
    return {};
  }
  OverrideReport remove(const Hash128& identity, const std::string& policy, Instant now) override {
    std::erase_if(overrides_,
                  [now](const Owned& one) { return one.entry.until.value_or(now + 1us) <= now; });
    const auto removed = std::erase_if(overrides_, [&](const Owned& one) {
      return one.identity == identity && one.entry.policy == policy;
    });
    return {.outcome =
                removed > 0 ? OverrideReport::Outcome::done : OverrideReport::Outcome::absent};
  }
  /// The override that applies to the claim; nullptr: none does.
  const Override* entry_for(const Claim& claim, Instant now) const {
    const Override* best = nullptr;
    const Owned* owner = nullptr;
    for (const Owned& owned : overrides_) {
      const auto& [identity, entry, planned] = owned;
      const bool is_own = entry.policy_id == claim.policy_id;
      const bool applies = identity == claim.identity && (is_own || entry.policy.empty()) &&
                           (!entry.until || *entry.until > now);
      if (!applies) continue;
      if (best == nullptr ||
          rank(entry, is_own) > rank(*best, best->policy_id == claim.policy_id)) {
        best = &entry;
        owner = &owned;
      }
    }
    if (best == nullptr || best->kind != Override::Kind::plan) return best;
    const auto found = owner->planned.find(claim.policy_id);
    return found == owner->planned.end() ? nullptr : &found->second;
  }

 private:
  struct Owned {
    Hash128 identity;
    Override entry;
    std::map<std::uint32_t, Override> planned{};  ///< of a plan: as if each policy had its own
  };

  /// Denials first, that which lasts longest; then overrides of one policy.
  static std::pair<std::int64_t, bool> rank(const Override& entry, bool is_own) {
    if (entry.kind != Override::Kind::denied) return {0, is_own};
    return {entry.until ? to_us(*entry.until) : std::numeric_limits<std::int64_t>::max(), is_own};
  }
  Claim in_force(Claim claim, Instant now) const {
    const Override* const entry = entry_for(claim, now);
    if (entry != nullptr && entry->kind == Override::Kind::numbers) claim.policy = &entry->numbers;
    return claim;
  }
  std::optional<rules::Decision> decided_alone(const Claim& claim, Instant now) const {
    const Override* const entry = entry_for(claim, now);
    if (entry == nullptr && claim.is_exempt) {
      return rules::Decision{
          .allowed = true, .limit = claim.policy->capacity, .remaining = claim.policy->capacity};
    }
    if (entry == nullptr || entry->kind == Override::Kind::numbers) return {};
    const bool free = entry->kind == Override::Kind::unlimited;
    rules::Decision decision{.allowed = free,
                             .limit = claim.policy->capacity,
                             .remaining = free ? claim.policy->capacity : 0};
    decision.override_effect =
        free ? rules::OverrideEffect::unlimited : rules::OverrideEffect::denied;
    if (entry->until) decision.ends_after = *entry->until - now;
    return decision;
  }

  using Place = std::pair<Hash128, std::uint32_t>;
  using State =
      std::variant<rules::GcraState, rules::FixedWindowState, rules::TokenBucketState,
                   rules::LeakyBucketState, rules::SlidingWindowState, rules::SlidingLogState,
                   rules::AttributedWindowState, rules::ConcurrencyState>;

  struct Units {
    State state;
    rules::Holds holds{};
  };

  static Place key_of(const Claim& claim) { return {claim.identity, claim.policy_id}; }

  Units& units_of(const Claim& claim) {
    const auto fresh = rules::with_state_of(claim.policy->algorithm,
                                            [](const auto& state) { return State{state}; });
    return states_.try_emplace(key_of(claim), Units{fresh}).first->second;
  }
  static void repay(const rules::Policy& policy, Units& units, Instant now) {
    std::visit(
        [&]<class S>(S& state) {
          rules::repay(policy, state, units.holds, now);
          if (units.holds.debt == 0 && whole_at(policy, state) <= now) state = S{};
        },
        units.state);
  }
  static rules::Admission admission_of(const Claim& claim, const Units& units, Instant now) {
    return std::visit(
        [&](const auto& state) {
          return admit_beside(*claim.policy, state, units.holds, now, claim.demand);
        },
        units.state);
  }
  static void take(const Claim& claim, Units& units, Instant now, std::int64_t cost) {
    std::visit([&](auto& state) { charge(*claim.policy, state, now, cost); }, units.state);
  }
  static void take_or_hold(const Claim& claim, Units& units, Instant now, std::int64_t cost) {
    if (claim.holds) return rules::hold(units.holds, cost);
    take(claim, units, now, cost);
  }

  std::map<Place, Units> states_;
  std::vector<Owned> overrides_;
  Instant latest_{};
};

}  // namespace weir::store::test
