// The simplest store, to compare others with: a map of states, one claim after another.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <variant>

#include "catch.hpp"
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

/// Random requests of one to four claims, with repeated keys, shadow policies, overdraft and cost
/// 0.
class RandomRequests {
 public:
  RandomRequests(std::uint64_t seed, std::vector<rules::Policy> policies, std::uint64_t identities)
      : random_(seed), policies_(std::move(policies)), identities_(identities) {}

  std::vector<Claim> next() {
    std::vector<Claim> claims;
    const std::uint64_t count = below(4) + 1;
    while (claims.size() < count) {
      const auto index = below(policies_.size());
      const auto& limit = policies_[index];
      const std::uint64_t who = below(identities_) + 1;
      claims.push_back(claim(limit, who, static_cast<std::int64_t>(below(4) * below(3)),
                             static_cast<std::uint32_t>(index)));
      claims.back().shadow = index % 3 == 2;
      claims.back().is_exempt = exempts_some_ && (who + index) % 3 == 0;
      claims.back().demand.overdraft = below(40) == 0;
      claims.back().holds = holds_some_ && below(2) == 0;
    }
    return claims;
  }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  /// From then on some identities are exempt from some policies.
  void exempt_some() { exempts_some_ = true; }

  void hold_some() { holds_some_ = true; }  ///< from then on some claims hold

  /// Sometimes puts or removes an override. A key whose numbers have changed since the last call,
  /// also because an override has ended, is forgotten: stores may differ in how long they keep it.
  void change_overrides(StoreUnderTest& store, StoreModel& model, Instant now) {
    if (below(10) == 0) change_an_override(store, model, now);
    for (std::uint32_t id = 0; id < policies_.size(); ++id) {
      for (std::uint64_t who = 1; who <= identities_; ++who) {
        const Claim key = claim(policies_[id], who, 0, id);
        const Override* const entry = model.entry_for(key, now);
        const std::string version = entry == nullptr ? "" : entry->details;
        std::string& known = versions_[{who, id}];
        if (known == version) continue;
        known = version;
        store.forget({.identity = key.identity, .policy_id = id});
        model.forget({.identity = key.identity, .policy_id = id});
      }
    }
  }

  /// Replaces one of the policies by another one of the same algorithm, as a reload does. States
  /// that are not whole yet are read: from then on a store keeps them for as long as the new policy
  /// needs.
  void change_a_policy(StoreUnderTest& store, StoreUnderTest& model, Instant now) {
    const auto index = below(policies_.size());
    rules::Policy& limit = policies_[index];
    const rules::Policy before = std::exchange(limit, another(limit.algorithm));
    // Stores may differ in the expired entries that a log still has, and a longer log may count
    // them again.
    const bool revives = limit.algorithm == rules::Algorithm::sliding_log &&
                         (limit.refill > before.refill || limit.capacity > before.capacity);
    for (std::uint64_t who = 1; who <= identities_; ++who) {
      const auto look = [&](const rules::Policy& as) {
        return std::vector{claim(as, who, 0, static_cast<std::uint32_t>(index))};
      };
      const Claim key = look(before).front();
      // A key with holds forgets what is whole when it is read, under the policy of that time.
      if (holds_some_) ask(store, now, look(before));
      const bool whole = ask(model, now, look(before)).decisions[0].reset_after == Duration{0};
      if (whole || revives) {
        store.forget({.identity = key.identity, .policy_id = key.policy_id});
        model.forget({.identity = key.identity, .policy_id = key.policy_id});
      }
      CAPTURE(index, who, to_string(limit.algorithm));
      REQUIRE(ask(store, now, look(limit)).decisions == ask(model, now, look(limit)).decisions);
    }
  }

 private:
  void change_an_override(StoreUnderTest& store, StoreModel& model, Instant now) {
    const auto index = below(policies_.size());
    const auto& limit = policies_[index];
    const Hash128 identity = claim(limit, below(identities_) + 1).identity;
    const bool is_for_all = below(4) == 0;
    Override entry{.kind = is_for_all ? one_of({Override::Kind::unlimited, Override::Kind::denied,
                                                Override::Kind::plan})
                                      : one_of({Override::Kind::numbers, Override::Kind::numbers,
                                                Override::Kind::unlimited, Override::Kind::denied}),
                   .details = "version " + std::to_string(++changes_)};
    if (!is_for_all) {
      entry.policy = "p" + std::to_string(index);
      entry.policy_id = static_cast<std::uint32_t>(index);
    }
    if (entry.kind == Override::Kind::numbers) entry.numbers = other_numbers(limit);
    if (entry.kind == Override::Kind::plan) entry.plan = random_plan();
    if (below(3) > 0) entry.until = now + Duration{static_cast<std::int64_t>(below(9'000'000)) + 1};
    const bool is_removed = below(4) == 0;
    const auto apply = [&](StoreUnderTest& to) {
      return (is_removed ? to.remove(identity, entry.policy, now) : to.put(identity, entry, now))
          .outcome;
    };
    REQUIRE(apply(store) == apply(model));
  }

  rules::Policy other_numbers(const rules::Policy& limit) {
    rules::Policy numbers = another(limit.algorithm);
    numbers.anchor = limit.anchor;
    numbers.count_rejected = limit.count_rejected;
    return numbers;
  }
  std::vector<PlanNumbers> random_plan() {
    std::vector<PlanNumbers> plan;
    for (std::uint32_t id = 0; id < policies_.size(); ++id) {
      if (below(3) == 0) continue;
      PlanNumbers& one =
          plan.emplace_back(PlanNumbers{.policy = "p" + std::to_string(id), .policy_id = id});
      if (below(3) > 0) one.numbers = other_numbers(policies_[id]);
    }
    return plan;
  }

  template <class T, std::size_t Size>
  T one_of(const T (&choices)[Size]) {
    return choices[below(Size)];
  }
  /// Counts that divide few durations, so that fractions and remainders differ.
  rules::Policy another(rules::Algorithm algorithm) {
    using rules::Algorithm;
    rules::Definition definition;
    definition.algorithm = algorithm;
    const rules::Rate rate{.count = one_of<std::int64_t>({1, 3, 7, 11, 43}),
                           .per = one_of<Duration>({700ms, 1s, 3s, 10s, 61s})};
    definition.rates = {rate};
    switch (algorithm) {
      case Algorithm::fixed_window:
        definition.count_rejected = below(2) == 0;
        [[fallthrough]];
      case Algorithm::attributed_window:
        definition.anchor = one_of({rules::Anchor::first_request, rules::Anchor::clock});
        break;
      case Algorithm::sliding_log:
        definition.count_rejected = below(2) == 0;
        break;
      case Algorithm::sliding_window:
        for (auto more = static_cast<std::int64_t>(below(3)), i = std::int64_t{1}; i <= more; ++i)
          definition.rates.push_back({.count = rate.count + 5 * i, .per = rate.per * (3 * i)});
        break;
      case Algorithm::gcra:
      case Algorithm::token_bucket:
        if (below(2) == 0) definition.burst = one_of<std::int64_t>({1, 5, 25});
        break;
      case Algorithm::leaky_bucket:
        definition.queue = one_of<std::int64_t>({0, 2, 9});
        definition.max_delay = one_of<Duration>({500ms, 1s, 61s});
        break;
      case Algorithm::concurrency:
        definition.rates.clear();
        definition.limit = rate.count;
        break;
    }
    return policy(definition);
  }

  std::mt19937_64 random_;
  std::vector<rules::Policy> policies_;
  std::uint64_t identities_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::string> versions_;  ///< in force
  int changes_ = 0;
  bool exempts_some_ = false;
  bool holds_some_ = false;
};

/// Four policies of one algorithm, a shadow one and ones that count rejected requests among them.
inline std::vector<rules::Policy> policies_of(rules::Algorithm algorithm) {
  std::vector<rules::Policy> policies{policy(algorithm, 7, 3s), policy(algorithm, 10, 1s),
                                      policy(algorithm, 5, 60s), policy(algorithm, 3, 700ms)};
  if (algorithm == rules::Algorithm::fixed_window || algorithm == rules::Algorithm::sliding_log) {
    for (auto& limit : std::span(policies).last(2))
      limit.count_rejected = true;
  }
  return policies;
}

struct Walk {
  std::uint64_t seed = 1;
  std::uint64_t identities = 20;
  int steps = 10'000;
  bool clock_steps_back = false;
  bool policies_change = false;
  bool overrides_change = false;
};

inline void agrees_with_model(StoreUnderTest& store, std::vector<rules::Policy> policies,
                              Walk walk) {
  INFO("seed " << walk.seed);
  StoreModel model;
  RandomRequests requests(walk.seed, std::move(policies), walk.identities);
  Instant now = epoch;
  if (walk.overrides_change) requests.exempt_some();
  for (int step = 0; step < walk.steps; ++step) {
    now += Duration{static_cast<std::int64_t>(requests.below(200'000))};
    if (requests.below(500) == 0) now += 90s;
    if (walk.clock_steps_back && requests.below(20) == 0) now -= 2s;
    if (walk.policies_change && requests.below(50) == 0)
      requests.change_a_policy(store, model, now);
    if (walk.overrides_change) requests.change_overrides(store, model, now);
    const auto claims = requests.next();
    const Answer answer = ask(store, now, claims);
    const Answer expected = ask(model, now, claims);
    if (answer.admitted == expected.admitted && answer.decisions == expected.decisions) continue;
    CAPTURE(step, claims.size(), to_string(claims[0].policy->algorithm));
    REQUIRE(answer.admitted == expected.admitted);
    REQUIRE(answer.decisions == expected.decisions);
  }
  CHECK(true);
}

}  // namespace weir::store::test
