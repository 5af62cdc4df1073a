// The cases and the walk that every store with holds must pass (StoreUnderTest::supports_holds).
#pragma once

#include "contract/random_requests.hpp"
#include "contract/store_contract.hpp"

namespace weir::store::test {

inline constexpr rules::Algorithm holding_algorithms[] = {
    rules::Algorithm::fixed_window,   rules::Algorithm::attributed_window,
    rules::Algorithm::sliding_window, rules::Algorithm::sliding_log,
    rules::Algorithm::token_bucket,   rules::Algorithm::gcra,
    rules::Algorithm::leaky_bucket,   rules::Algorithm::concurrency};

inline Claim holding(const rules::Policy& policy, std::uint64_t who, std::int64_t cost = 1,
                     std::uint32_t policy_id = 0) {
  Claim result = claim(policy, who, cost, policy_id);
  result.holds = true;
  return result;
}

inline Settlement settlement_of(const Claim& claim, std::int64_t held, std::int64_t actual) {
  return {.policy = claim.policy,
          .key = {.identity = claim.identity, .policy_id = claim.policy_id},
          .held = held,
          .actual = actual};
}

inline void settle_one(StoreUnderTest& store, const Settlement& settlement, Instant now) {
  store.settle({&settlement, 1}, now);
}

inline std::int64_t left(StoreUnderTest& store, const Claim& claim, Instant now) {
  Claim look = claim;
  look.demand.cost = 0;
  return ask(store, now, {look}).decisions[0].remaining;
}

inline void held_units_are_not_available(StoreUnderTest& store) {
  with_each_policy(holding_algorithms, 5, 10s, [&](const rules::Policy& limit, std::uint64_t who) {
    const Claim three = holding(limit, who, 3);
    const Answer first = ask(store, epoch, {three});
    CHECK(first.admitted);
    CHECK(first.decisions[0].held == 3);
    CHECK(first.decisions[0].remaining == 2);
    CHECK(first.decisions[0].more_after >= Duration{1s});
    const Answer second = ask(store, epoch, {three});
    CHECK_FALSE(second.admitted);
    CHECK(second.decisions[0].held == 0);
    CHECK(second.decisions[0].retry_after >= Duration{1s});
    settle_one(store, settlement_of(three, 3, 0), epoch);
    CHECK(left(store, three, epoch) == 5);
  });
}

inline void settlements_charge_the_actual_cost(StoreUnderTest& store) {
  with_each_policy(holding_algorithms, 10, 10s, [&](const rules::Policy& limit, std::uint64_t who) {
    if (limit.algorithm == rules::Algorithm::concurrency) return;
    const Claim four = holding(limit, who, 4);
    const Instant at = epoch + 100s * static_cast<std::int64_t>(who);
    REQUIRE(ask(store, at, {four}).admitted);
    settle_one(store, settlement_of(four, 4, 1), at);
    CHECK(left(store, four, at) == 9);
    REQUIRE(ask(store, at, {four}).admitted);
    settle_one(store, settlement_of(four, 4, 6), at);
    CHECK(left(store, four, at) == 3);
    // Beyond the capacity: a debt, which admits nothing until it is repaid.
    REQUIRE(ask(store, at, {holding(limit, who, 3)}).admitted);
    settle_one(store, settlement_of(four, 3, 5), at);
    CHECK(left(store, four, at) == 0);
    CHECK_FALSE(ask(store, at, {claim(limit, who)}).admitted);
    CHECK(left(store, four, at + 60s) == 10);
  });
}

inline void holds_and_charges_are_all_or_none(StoreUnderTest& store) {
  const auto slots = policy(rules::Algorithm::concurrency, 2, 1s);
  const auto rate = policy(rules::Algorithm::gcra, 1, 10s);
  const std::vector both{holding(slots, 1, 1, 0), claim(rate, 1, 1, 1)};
  CHECK(ask(store, epoch, both).admitted);
  const Answer denied = ask(store, epoch, both);
  CHECK_FALSE(denied.admitted);
  CHECK(denied.decisions[0].allowed);
  CHECK(denied.decisions[0].held == 0);
  CHECK(left(store, both[0], epoch) == 1);
  CHECK(ask(store, epoch, {both[0]}).admitted);
  // Now the holds deny, and the rate is not charged.
  CHECK_FALSE(ask(store, epoch + 10s, both).admitted);
  CHECK(left(store, both[1], epoch + 10s) == 1);
}

inline void holding_claims_on_one_key_see_each_other(StoreUnderTest& store) {
  claims_see_each_other(
      store, holding_algorithms,
      [](const rules::Policy& limit, std::uint64_t who) { return holding(limit, who); });
}

inline void overdraft_holds_what_is_left(StoreUnderTest& store) {
  with_each_policy(holding_algorithms, 5, 10s, [&](const rules::Policy& limit, std::uint64_t who) {
    if (limit.algorithm == rules::Algorithm::leaky_bucket) return;
    Claim forced = holding(limit, who, 7);
    forced.demand.overdraft = true;
    CHECK(ask(store, epoch, {forced}).decisions[0].held == 5);
    const Answer second = ask(store, epoch, {forced});
    CHECK(second.admitted);
    CHECK(second.decisions[0].held == 0);
  });
}

inline void a_peek_shows_holds_as_used(StoreUnderTest& store) {
  with_each_policy(holding_algorithms, 5, 10s, [&](const rules::Policy& limit, std::uint64_t who) {
    const std::vector claims{holding(limit, who, 3)};
    REQUIRE(ask(store, epoch, claims).admitted);
    std::vector<rules::Decision> decisions(1);
    for (int i = 0; i < 3; ++i) {
      store.peek(claims, epoch + 1s, decisions);
      CHECK(decisions[0].remaining == 2);
      CHECK(decisions[0].held == 0);
    }
  });
}

inline void a_look_shows_the_units_held(StoreUnderTest& store) {
  with_each_policy(holding_algorithms, 5, 10s, [&](const rules::Policy& limit, std::uint64_t who) {
    const Claim two = holding(limit, who, 2);
    CHECK(store.held(two, epoch) == 0);
    REQUIRE(ask(store, epoch, {two}).admitted);
    REQUIRE(ask(store, epoch, {two}).admitted);
    CHECK(store.held(two, epoch + 1s) == 4);
    settle_one(store, settlement_of(two, 2, 2), epoch + 1s);
    CHECK(store.held(two, epoch + 1s) == 2);
    settle_one(store, settlement_of(two, 2, 9), epoch + 1s);  // a debt, where units are charged
    CHECK(store.held(two, epoch + 1s) == 0);
  });
}

inline void a_look_shows_the_units_held_beside_a_debt(StoreUnderTest& store) {
  with_each_policy(holding_algorithms, 5, 10s, [&](const rules::Policy& limit, std::uint64_t who) {
    const Claim two = holding(limit, who, 2);
    REQUIRE(ask(store, epoch, {two}).admitted);
    REQUIRE(ask(store, epoch, {two}).admitted);
    settle_one(store, settlement_of(two, 2, 20), epoch);
    CHECK(store.held(two, epoch) == 2);
  });
}

inline void entries_show_who_was_charged_later(StoreUnderTest& store) {
  const auto window = policy(rules::Algorithm::attributed_window, 8, 10s);
  const Claim three = holding(window, 1, 3);
  REQUIRE(ask(store, epoch, {three}).admitted);
  REQUIRE(ask(store, epoch, {three}).admitted);
  CHECK(store.entries(three, epoch).entries.empty());
  Settlement together[] = {settlement_of(three, 3, 2), settlement_of(three, 3, 1)};
  together[0].attributes = {"alice", "curl/8.0"};
  together[1].attributes = {"bob", "two\twords"};
  store.settle(together, epoch + 1s);
  Settlement later = settlement_of(three, 0, 9);
  later.attributes = {"carol", ""};
  settle_one(store, later, epoch + 2s);
  // Carol's other four units are a debt.
  const auto found = store.entries(three, epoch + 2s).entries;
  REQUIRE(found.size() == 3);
  CHECK(found[0].at == epoch + 1s);
  CHECK(found[0].units == 2);
  CHECK(found[0].attributes == std::vector<std::string>{"alice", "curl/8.0"});
  CHECK(found[1].units == 1);
  CHECK(found[1].attributes[0] == "bob");
  CHECK(found[2].at == epoch + 2s);
  CHECK(found[2].units == 5);
  CHECK(found[2].attributes[0] == "carol");
}

inline void settling_an_absent_key_charges_a_fresh_one(StoreUnderTest& store) {
  with_each_policy(holding_algorithms, 5, 10s, [&](const rules::Policy& limit, std::uint64_t who) {
    const Claim three = holding(limit, who, 3);
    REQUIRE(ask(store, epoch, {three}).admitted);
    store.forget({.identity = three.identity});
    CHECK(left(store, three, epoch) == 5);
    settle_one(store, settlement_of(three, 3, 2), epoch);
    const bool charges = limit.algorithm != rules::Algorithm::concurrency;
    CHECK(left(store, three, epoch) == (charges ? 3 : 5));
  });
}

/// The times of these debts are beyond what the replies of a script can state.
inline void a_huge_settlement_is_a_debt(StoreUnderTest& store) {
  for (const std::int64_t actual : {20'000'000'000, 30'000'000'000, rules::exact_limit}) {
    with_each_policy(holding_algorithms, 5, 10s,
                     [&](const rules::Policy& limit, std::uint64_t who) {
                       if (limit.algorithm == rules::Algorithm::concurrency) return;
                       const Claim three = holding(limit, who, 3);
                       REQUIRE(ask(store, epoch, {three}).admitted);
                       settle_one(store, settlement_of(three, 3, actual), epoch);
                       CHECK(left(store, three, epoch) == 0);
                       const Answer denied = ask(store, epoch + 1s, {three});
                       CHECK_FALSE(denied.admitted);
                       CHECK(denied.decisions[0].retry_after);
                       CHECK(denied.decisions[0].reset_after <= rules::longest_repayment + 1h);
                       store.forget({.identity = three.identity});
                     });
  }
}

inline void an_override_in_force_decides_holds(StoreUnderTest& store) {
  with_each_policy(holding_algorithms, 5, 10s, [&](const rules::Policy& limit, std::uint64_t who) {
    const auto wider = policy(limit.algorithm, 20, 10s);
    const Claim many = holding(limit, who, 12);
    store.put(many.identity, {.policy = "p0", .policy_id = 0, .numbers = wider}, epoch);
    REQUIRE(ask(store, epoch, {many}).admitted);
    CHECK(left(store, many, epoch) == 8);
    // Charged under the same numbers, so that it fits.
    settle_one(store, settlement_of(many, 12, 12), epoch);
    const bool charges = limit.algorithm != rules::Algorithm::concurrency;
    CHECK(left(store, many, epoch) == (charges ? 8 : 20));
  });
}

/// Gives `units` of a claim's key back.
inline void refund(StoreUnderTest& store, const Claim& claim, std::int64_t units, Instant now) {
  settle_one(store, settlement_of(claim, 0, -units), now);
}

inline void a_refund_gives_back_what_was_used(StoreUnderTest& store) {
  with_each_policy(holding_algorithms, 10, 100s,
                   [&](const rules::Policy& limit, std::uint64_t who) {
                     if (limit.algorithm == rules::Algorithm::concurrency) return;
                     const Claim plain = claim(limit, who, 6);
                     const Instant at = epoch + 1000s * static_cast<std::int64_t>(who);
                     refund(store, plain, 3, at);
                     CHECK(left(store, plain, at) == 10);
                     REQUIRE(ask(store, at, {plain}).admitted);
                     refund(store, plain, 4, at);
                     CHECK(left(store, plain, at) == 8);
                     CHECK_FALSE(ask(store, at, {claim(limit, who, 9)}).admitted);
                     refund(store, plain, 9, at);
                     CHECK(left(store, plain, at) == 10);
                     CHECK(ask(store, at, {claim(limit, who, 10)}).admitted);
                     CHECK_FALSE(ask(store, at, {claim(limit, who)}).admitted);
                   });
}

inline void a_refund_ends_a_denial(StoreUnderTest& store) {
  with_each_policy(holding_algorithms, 5, 100s, [&](const rules::Policy& limit, std::uint64_t who) {
    if (limit.algorithm == rules::Algorithm::concurrency) return;
    const Instant at = epoch + 1000s * static_cast<std::int64_t>(who);
    REQUIRE(ask(store, at, {claim(limit, who, 5)}).admitted);
    CHECK_FALSE(ask(store, at, {claim(limit, who)}).admitted);
    CHECK_FALSE(ask(store, at, {claim(limit, who)}).admitted);
    refund(store, claim(limit, who), 2, at);
    CHECK(ask(store, at, {claim(limit, who)}).admitted);
    CHECK(ask(store, at, {claim(limit, who)}).admitted);
    CHECK_FALSE(ask(store, at, {claim(limit, who)}).admitted);
  });
}

inline void a_refund_leaves_held_units_and_reduces_a_debt(StoreUnderTest& store) {
  with_each_policy(holding_algorithms, 5, 100s, [&](const rules::Policy& limit, std::uint64_t who) {
    if (limit.algorithm == rules::Algorithm::concurrency) return;
    const Claim two = holding(limit, who, 2);
    const Instant at = epoch + 1000s * static_cast<std::int64_t>(who);
    REQUIRE(ask(store, at, {two}).admitted);
    REQUIRE(ask(store, at, {two}).admitted);
    refund(store, two, 9, at);
    CHECK(left(store, two, at) == 1);
    settle_one(store, settlement_of(two, 2, 7), at);  // 3 have room, 4 are a debt
    refund(store, two, 3, at);
    CHECK(left(store, two, at) == 0);
    CHECK_FALSE(ask(store, at, {claim(limit, who)}).admitted);
    refund(store, two, 3, at);
    CHECK(left(store, two, at) == 2);
    settle_one(store, settlement_of(two, 2, -9), at);
    CHECK(left(store, two, at) == 5);
  });
}

inline void refunds_and_charges_keep_their_order(StoreUnderTest& store) {
  with_each_policy(holding_algorithms, 10, 100s,
                   [&](const rules::Policy& limit, std::uint64_t who) {
                     if (limit.algorithm == rules::Algorithm::concurrency) return;
                     const Claim key = claim(limit, who);
                     const Instant at = epoch + 1000s * static_cast<std::int64_t>(who);
                     const auto settle = [&](const std::vector<std::int64_t>& units) {
                       std::vector<Settlement> all;
                       for (const std::int64_t one : units)
                         all.push_back(settlement_of(key, 0, one));
                       store.settle(all, at);
                     };
                     settle({-3, 4});
                     CHECK(left(store, key, at) == 6);
                     settle({2, -5, 3});
                     CHECK(left(store, key, at) == 6);
                     settle({2, -1, 2, -9, 1, -4});
                     CHECK(left(store, key, at) == 10);
                   });
}

inline constexpr ContractCase hold_contract[] = {
    {"held units are not available", held_units_are_not_available},
    {"settlements charge the actual cost", settlements_charge_the_actual_cost},
    {"holds and charges are all or none", holds_and_charges_are_all_or_none},
    {"holding claims on one key see each other", holding_claims_on_one_key_see_each_other},
    {"overdraft holds what is left", overdraft_holds_what_is_left},
    {"a peek shows holds as used", a_peek_shows_holds_as_used},
    {"entries show who was charged later", entries_show_who_was_charged_later},
    {"a look shows the units held", a_look_shows_the_units_held},
    {"a look shows the units held beside a debt", a_look_shows_the_units_held_beside_a_debt},
    {"settling an absent key charges a fresh one", settling_an_absent_key_charges_a_fresh_one},
    {"a huge settlement is a debt", a_huge_settlement_is_a_debt},
    {"an override in force decides holds", an_override_in_force_decides_holds},
    {"a refund gives back what was used", a_refund_gives_back_what_was_used},
    {"a refund ends a denial", a_refund_ends_a_denial},
    {"a refund leaves held units and reduces a debt",
     a_refund_leaves_held_units_and_reduces_a_debt},
    {"refunds and charges keep their order", refunds_and_charges_keep_their_order},
};

/// Runs random requests, half of their claims with holds, and settles them in a random order. Some
/// settlements are refunds.
class HoldWalk {
 public:
  HoldWalk(StoreUnderTest& store, std::vector<rules::Policy> policies, const Walk& walk)
      : store_(store), walk_(walk), requests_(walk.seed, std::move(policies), walk.identities) {
    requests_.hold_some();
    if (walk.overrides_change) requests_.exempt_some();
  }

  /// Afterwards nothing is held.
  void run() {
    INFO("seed " << walk_.seed);
    for (int step = 0; step < walk_.steps; ++step) {
      CAPTURE(step);
      advance();
      request();
      if (requests_.below(8) != 0) settle();
    }
    while (!in_flight_.empty())
      settle();
    CHECK(model_.holds() == 0);
  }

 private:
  void advance() {
    now_ += Duration{static_cast<std::int64_t>(requests_.below(200'000))};
    if (requests_.below(500) == 0) now_ += 90s;
    if (walk_.clock_steps_back && requests_.below(20) == 0) now_ -= 2s;
    if (walk_.policies_change && requests_.below(50) == 0)
      requests_.change_a_policy(store_, model_, now_);
    if (walk_.overrides_change) requests_.change_overrides(store_, model_, now_);
  }
  void request() {
    const auto claims = requests_.next();
    const Answer answer = ask(store_, now_, claims);
    const Answer expected = ask(model_, now_, claims);
    CAPTURE(claims.size(), to_string(claims[0].policy->algorithm));
    REQUIRE(answer.admitted == expected.admitted);
    REQUIRE(answer.decisions == expected.decisions);
    if (!answer.admitted) return;
    for (std::size_t i = 0; i < claims.size(); ++i) {
      if (claims[i].holds && answer.decisions[i].allowed)
        in_flight_.push_back(settlement_of(claims[i], answer.decisions[i].held, 0));
    }
  }
  /// A few of those in flight, in one call.
  void settle() {
    std::vector<Settlement> ended;
    for (std::uint64_t more = requests_.below(4) + 1; more > 0 && !in_flight_.empty(); --more) {
      std::swap(in_flight_[requests_.below(in_flight_.size())], in_flight_.back());
      Settlement& one = in_flight_.back();
      const std::uint64_t most = requests_.below(10) == 0 ? 30 : 4;
      one.actual =
          requests_.below(2) == 0 ? one.held : static_cast<std::int64_t>(requests_.below(most));
      if (requests_.below(8) == 0) one.actual = -one.actual;
      ended.push_back(one);
      in_flight_.pop_back();
      if (requests_.below(2) == 0) ended.push_back(refund());
    }
    store_.settle(ended, now_);
    model_.settle(ended, now_);
  }

  Settlement refund() {
    const Claim one = requests_.next().front();
    const std::uint64_t most = requests_.below(10) == 0 ? 30 : 4;
    return settlement_of(one, 0, -static_cast<std::int64_t>(requests_.below(most) + 1));
  }

  StoreUnderTest& store_;
  Walk walk_;
  StoreModel model_;
  RandomRequests requests_;
  std::vector<Settlement> in_flight_;
  Instant now_ = epoch;
};

}  // namespace weir::store::test
