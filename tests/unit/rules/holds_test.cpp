// Tables of holds and settlements beside a state. The random histories are in
// holds_model_test.cpp.
#include "rules/holds.hpp"

#include "catch.hpp"
#include "sequence.hpp"

namespace weir::rules::test {

namespace {

Policy policy_with(Algorithm algorithm, std::int64_t count, Duration per) {
  Definition definition{.algorithm = algorithm, .rates = {{count, per}}};
  if (algorithm == Algorithm::leaky_bucket) {
    definition.queue = count - 1;
    definition.max_delay = per;
  }
  return policy_of(definition);
}

/// A state with holds, and the steps on it.
template <class State>
struct Key {
  Policy policy;
  State state{};
  Holds holds{};

  Admission ask(Duration now, std::int64_t cost, bool overdraft = false) {
    repay(policy, state, holds, epoch + now);
    return admit_beside(policy, state, holds, epoch + now, {.cost = cost, .overdraft = overdraft});
  }
  bool take(Duration now, std::int64_t cost) {
    const Admission admission = ask(now, cost);
    if (admission.allowed) hold(holds, admission.units);
    return admission.allowed;
  }
  void end(Duration now, std::int64_t held, std::int64_t actual) {
    settle(policy, state, holds, epoch + now, held, actual);
  }
  std::int64_t left(Duration now) {
    repay(policy, state, holds, epoch + now);
    return level_beside(policy, state, holds, epoch + now).remaining;
  }
};

constexpr Algorithm algorithms[] = {Algorithm::fixed_window,   Algorithm::attributed_window,
                                    Algorithm::sliding_window, Algorithm::sliding_log,
                                    Algorithm::token_bucket,   Algorithm::gcra,
                                    Algorithm::leaky_bucket};

template <class Visitor>
void with_keys(std::int64_t count, Duration per, Visitor visit) {
  for (const Algorithm algorithm : algorithms) {
    CAPTURE(to_string(algorithm));
    with_state_of(algorithm, [&]<class State>(const State&) {
      visit(Key<State>{.policy = policy_with(algorithm, count, per)});
    });
  }
}

}  // namespace

TEST_CASE("holds: without holds the decisions are those of the state alone") {
  with_keys(5, seconds(10), [](auto key) {
    charge(key.policy, key.state, epoch, 3);
    for (const std::int64_t cost : {0, 2, 3, 6}) {
      const Admission beside = key.ask(seconds(1), cost);
      const Admission alone = admit(key.policy, key.state, epoch + seconds(1), {.cost = cost});
      CHECK(beside.allowed == alone.allowed);
      CHECK(beside.units == alone.units);
      CHECK(beside.retry_after == alone.retry_after);
    }
    CHECK(whole_beside(key.policy, key.state, key.holds) == whole_at(key.policy, key.state));
  });
}

TEST_CASE("holds: held units count as used until they are settled, and only then as charged") {
  with_keys(10, seconds(10), [](auto key) {
    CHECK(key.take(seconds(0), 4));
    CHECK(key.left(seconds(0)) == 6);
    // Time does not free them.
    CHECK(key.left(days(1)) == 6);
    CHECK_FALSE(key.ask(days(1), 7).allowed);
    CHECK(key.ask(days(1), 7).retry_after == seconds(1));
    CHECK(whole_beside(key.policy, key.state, key.holds) == Instant::max());
    key.end(days(1), 4, 1);
    CHECK(key.left(days(1)) == 9);
    CHECK(key.left(days(2)) == 10);
    CHECK(is_empty(key.holds));
  });
}

TEST_CASE("holds: a settlement releases once, never below 0, and clamps what it charges") {
  struct End {
    std::int64_t held, actual, left, held_after;
  };
  for (const End& row :
       {End{4, 4, 3, 3}, {4, 0, 7, 3}, {4, -5, 7, 3}, {9, 0, 10, 0}, {-1, 0, 3, 7}, {4, 6, 1, 3}}) {
    CAPTURE(row.held, row.actual);
    with_keys(10, seconds(10), [&](auto key) {
      REQUIRE(key.take(seconds(0), 7));
      key.end(seconds(0), row.held, row.actual);
      CHECK(key.left(seconds(0)) == row.left);
      CHECK(key.holds.held == row.held_after);
      CHECK(key.holds.debt == 0);
    });
  }
}

TEST_CASE(
    "holds: what exceeds the free room is a debt, which is repaid before a cost is admitted") {
  with_keys(10, seconds(10), [](auto key) {
    REQUIRE(key.take(seconds(0), 3));
    REQUIRE(key.take(seconds(0), 5));
    // 3 of its own and 2 free ones; the 5 of the other stay held.
    key.end(seconds(0), 3, 12);
    CHECK(key.holds == Holds{.held = 5, .debt = 7, .paid_until = epoch});
    CHECK(key.left(seconds(0)) == 0);
    CHECK(key.ask(seconds(0), 0).allowed);
    CHECK_FALSE(key.ask(seconds(0), 1).allowed);
    CHECK_FALSE(key.ask(seconds(0), 1, true).allowed);
    CHECK(key.ask(seconds(0), 1).retry_after >= seconds(1));
    CHECK(key.ask(seconds(0), 11).retry_after == std::nullopt);
    // The other settles with nothing: its room pays 5 of the debt.
    key.end(seconds(0), 5, 0);
    CHECK(key.holds.debt == 2);
    const Duration retry = key.ask(seconds(0), 1).retry_after.value_or(days(1));
    CHECK(key.ask(retry, 1).allowed);
    CHECK(key.holds == Holds{});
  });
}

TEST_CASE("holds: idle time pays a debt above the capacity") {
  with_keys(10, seconds(10), [](auto key) {
    REQUIRE(key.take(seconds(0), 1));
    key.end(seconds(0), 1, 55);
    CHECK(key.holds.debt == 45);
    const Instant whole = whole_beside(key.policy, key.state, key.holds);
    CHECK(whole >= epoch + seconds(55));
    CHECK(whole <= epoch + seconds(61));
    CHECK(key.left(whole - epoch) == 10);
    CHECK(key.holds == Holds{});
  });
}

TEST_CASE("holds: idle time pays no more than the debt, even if it is long enough for more") {
  with_keys(10, seconds(10), [](auto key) {
    for (const Duration idle : {Duration{seconds(70)}, Duration{days(36'500)}}) {
      const Repayment paid = paid_by_idle(key.policy, idle, 45);
      CHECK(paid.units == 45);
      CHECK(paid.time <= idle);
    }
  });
  // 2^51 units each microsecond for 100 years: the product is beyond 64 bits.
  const Policy policy = policy_of(
      {.algorithm = Algorithm::fixed_window, .rates = {{std::int64_t{1} << 51, Duration{1}}}});
  CHECK(paid_by_idle(policy, days(36'500), exact_limit).units == exact_limit);
}

TEST_CASE("holds: a debt that has no room is paid by later time, not by time before it") {
  with_keys(10, seconds(10), [](auto key) {
    // An overdraft held nothing beside a hold of everything.
    REQUIRE(key.take(seconds(0), 10));
    REQUIRE(key.ask(seconds(0), 5, true).allowed);
    key.end(seconds(0), 0, 20);
    CHECK(key.holds.debt == 20);
    for (int i = 1; i < 100; ++i)
      key.left(milliseconds(200 * i));
    CHECK(key.holds.debt > 0);
    key.left(seconds(20));
    CHECK(key.holds == Holds{.held = 10});
  });
}

TEST_CASE("holds: charging first and refunding later grants a refill twice, a hold does not") {
  Key<GcraState> key{.policy = policy_with(Algorithm::gcra, 10, seconds(10))};
  // Reserve 10 at 0 s. At 9 s a cost of 1 comes, and the reservation turns out to need only 1.
  REQUIRE(key.take(seconds(0), 10));
  std::int64_t at_9s = key.take(seconds(9), 1) ? 1 : 0;
  CHECK(at_9s == 0);
  key.end(seconds(9), 10, 1);
  while (key.take(seconds(9), 1))
    ++at_9s;
  CHECK(at_9s == 9);
  CHECK(at_9s + 1 <= key.policy.capacity);

  // The same with a refund: the charge is refilled while it runs, and then given back.
  TokenBucketState bucket;
  const Policy policy = policy_with(Algorithm::token_bucket, 10, seconds(10));
  charge(policy, bucket, epoch, 10);
  charge(policy, bucket, epoch + seconds(9), 1);
  bucket.used = std::max<std::int64_t>(bucket.used - 9, 0);
  CHECK(1 + level(policy, bucket, epoch + seconds(9)).remaining == 11);
}

TEST_CASE("holds: a settlement keeps the start of a live window, and starts one if there is none") {
  Key<FixedWindowState> key{.policy = policy_with(Algorithm::fixed_window, 10, seconds(10))};
  REQUIRE(key.take(seconds(0), 3));
  CHECK(whole_at(key.policy, key.state) == Instant{});
  charge(key.policy, key.state, epoch + seconds(2), 1);
  key.end(seconds(8), 3, 5);
  CHECK(key.state == FixedWindowState{.start = epoch + seconds(2), .used = 6});
  REQUIRE(key.take(seconds(9), 2));
  key.end(seconds(13), 2, 2);
  CHECK(key.state == FixedWindowState{.start = epoch + seconds(13), .used = 2});
}

TEST_CASE("holds: denied requests that count do not turn a hold into a debt") {
  Key<FixedWindowState> key{.policy = policy_of({.algorithm = Algorithm::fixed_window,
                                                 .rates = {{10, seconds(10)}},
                                                 .count_rejected = true})};
  REQUIRE(key.take(seconds(0), 6));
  charge(key.policy, key.state, epoch, 8);
  key.end(seconds(1), 6, 7);
  CHECK(key.state.used == 14);
  CHECK(key.holds.debt == 1);
}

TEST_CASE("holds: a leaky bucket delays behind units that are held") {
  Key<LeakyBucketState> key{.policy = policy_of({.algorithm = Algorithm::leaky_bucket,
                                                 .rates = {{1, seconds(1)}},
                                                 .queue = 9,
                                                 .max_delay = seconds(4)})};
  CHECK(key.ask(seconds(0), 1).delay == Duration{0});
  REQUIRE(key.take(seconds(0), 3));
  CHECK(key.ask(seconds(0), 1).delay == seconds(3));
  CHECK(key.ask(seconds(2), 1).delay == seconds(3));
  REQUIRE(key.take(seconds(2), 2));
  // Five held units are more than max_delay.
  CHECK_FALSE(key.ask(seconds(2), 1).allowed);
  CHECK(key.ask(seconds(2), 1).retry_after == seconds(1));
  CHECK(key.left(seconds(2)) == 0);
  // Settlements are charged whatever the delay is.
  key.end(seconds(2), 2, 7);
  key.end(seconds(2), 3, 3);
  CHECK(key.holds == Holds{});
  CHECK(whole_at(key.policy, key.state) == epoch + seconds(12));
}

TEST_CASE("holds: a debt that idle time has paid uses no room") {
  struct Row {
    Duration at;
    std::int64_t left;
    std::int64_t debt;
  };
  // 25 units of 10 at 0 s: the bucket is full again at 10 s, and idle time pays 15 from then on.
  for (const auto& [at, left, debt] :
       {Row{seconds(10), 0, 5}, Row{seconds(24), 9, 0}, Row{seconds(25), 10, 0},
        Row{seconds(30), 10, 0}, Row{seconds(500), 10, 0}}) {
    CAPTURE(at.count());
    Key<TokenBucketState> key{.policy = policy_with(Algorithm::token_bucket, 10, seconds(10))};
    REQUIRE(key.take(seconds(0), 10));
    key.end(seconds(0), 10, 25);
    REQUIRE(key.holds.debt == 15);
    CHECK(key.left(at) == left);
    CHECK(key.holds.debt == debt);
  }
}

TEST_CASE("holds: after a smaller capacity the units above it are a debt") {
  Key<TokenBucketState> key{.policy = policy_with(Algorithm::token_bucket, 10, seconds(10))};
  REQUIRE(key.take(seconds(0), 10));
  key.policy = policy_with(Algorithm::token_bucket, 4, seconds(4));
  CHECK(key.left(seconds(0)) == 0);
  key.end(seconds(0), 10, 10);
  CHECK(key.holds.debt == 6);
  CHECK_FALSE(key.ask(seconds(6), 1).allowed);
  CHECK(key.ask(seconds(7), 1).allowed);
}

TEST_CASE("holds: the largest values stay exact") {
  constexpr std::int64_t most = exact_limit;
  with_keys(10, seconds(10), [](auto key) {
    key.holds = {.held = most, .debt = most, .paid_until = epoch};
    hold(key.holds, most);
    owe(key.holds, most, epoch);
    CHECK(key.holds == Holds{.held = most, .debt = most, .paid_until = epoch});
    CHECK_FALSE(key.ask(seconds(1), 1).allowed);
    key.end(seconds(1), huge, huge);
    CHECK(key.holds.held == 0);
    CHECK(key.holds.debt > most - 20);
    CHECK(level_beside(key.policy, key.state, key.holds, epoch + seconds(1)).remaining == 0);
    const Instant whole = whole_beside(key.policy, key.state, key.holds);
    CHECK(whole >= epoch + longest_repayment);
    CHECK(whole < epoch + longest_repayment + seconds(100));
  });
}

}  // namespace weir::rules::test
