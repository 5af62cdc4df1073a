// Random requests, and the comparison of a store with the model over a history of them.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "contract/store_model.hpp"
#include "seed.hpp"

namespace weir::store::test {

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
  int steps = history_length(10'000);
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
