// A state that was written under another rate: its use is kept, its bounds hold, its hints are
// true.
#include "catch.hpp"
#include "random_policy.hpp"
#include "rules/holds.hpp"
#include "seed.hpp"

namespace weir::rules::test {

namespace {

template <class State>
State used_up(const Policy& policy, State state, std::int64_t units) {
  charge(policy, state, epoch, units);
  return state;
}

/// However long the policy was that a state was written under.
Duration from_empty_to_whole(const Policy& policy) {
  if (policy.algorithm != Algorithm::sliding_window) return policy.refill;
  Duration longest{};
  for (const Rate& rate : policy.rates)
    longest = std::max(longest, rate.per);
  return longest + longest / 10;  // a sub-window is forgotten as a whole
}

}  // namespace

TEST_CASE("reload: use stays counted when the quota changes") {
  for (const Algorithm algorithm : {Algorithm::fixed_window, Algorithm::attributed_window,
                                    Algorithm::sliding_window, Algorithm::sliding_log}) {
    INFO(to_string(algorithm));
    const Policy old_policy = policy_of({.algorithm = algorithm, .rates = {{10, minutes(1)}}});
    const Policy larger = policy_of({.algorithm = algorithm, .rates = {{25, minutes(1)}}});
    const Policy smaller = policy_of({.algorithm = algorithm, .rates = {{5, minutes(1)}}});
    with_state_of(algorithm, [&](const auto& fresh) {
      const auto state = used_up(old_policy, fresh, 8);
      CHECK(level(larger, state, epoch).remaining == 17);
      CHECK(level(smaller, state, epoch).remaining == 0);
      CHECK_FALSE(admit(smaller, state, epoch, {}).allowed);
    });
  }
}

TEST_CASE("reload: a bucket keeps its use when its burst changes") {
  for (const Algorithm algorithm :
       {Algorithm::token_bucket, Algorithm::gcra, Algorithm::leaky_bucket}) {
    INFO(to_string(algorithm));
    const auto bucket = [&](std::int64_t burst) {
      Definition definition{.algorithm = algorithm, .rates = {{1, seconds(1)}}};
      (algorithm == Algorithm::leaky_bucket ? definition.queue = burst - 1
                                            : definition.burst = burst);
      return policy_of(definition);
    };
    with_state_of(algorithm, [&](const auto& fresh) {
      const auto state = used_up(bucket(10), fresh, 8);
      CHECK(level(bucket(20), state, epoch).remaining == 12);
      CHECK(level(bucket(5), state, epoch).remaining == 0);
      CHECK(level(bucket(5), state, epoch).reset_after == seconds(5));
      CHECK(whole_at(bucket(5), state) == epoch + seconds(5));
    });
  }
}

TEST_CASE("reload: a sliding window keeps its use when its length changes") {
  const auto window = [](std::vector<Rate> rates) {
    return policy_of({.algorithm = Algorithm::sliding_window, .rates = std::move(rates)});
  };
  const SlidingWindowState state = used_up(window({{10, minutes(1)}}), SlidingWindowState{}, 8);
  CHECK(level(window({{10, seconds(10)}}), state, epoch).remaining == 2);
  CHECK(level(window({{10, hours(1)}}), state, epoch + seconds(30)).remaining == 2);
  // a new tier starts empty, one that is gone is forgotten
  CHECK(level(window({{10, minutes(1)}, {5, seconds(1)}}), state, epoch).remaining == 2);
  SlidingWindowState tiers =
      used_up(window({{10, minutes(1)}, {9, seconds(1)}}), SlidingWindowState{}, 8);
  charge(window({{10, minutes(1)}}), tiers, epoch, 1);
  CHECK(tiers.tiers.size() == 1);
  CHECK(level(window({{10, minutes(1)}}), tiers, epoch).remaining == 1);
}

TEST_CASE("reload: a fixed window ends by its new length") {
  const auto window = [](Duration per, Anchor anchor) {
    return policy_of(
        {.algorithm = Algorithm::fixed_window, .rates = {{10, per}}, .anchor = anchor});
  };
  const FixedWindowState state =
      used_up(window(minutes(1), Anchor::first_request), FixedWindowState{}, 8);
  CHECK(level(window(seconds(10), Anchor::first_request), state, epoch + seconds(9)).remaining ==
        2);
  CHECK(level(window(seconds(10), Anchor::first_request), state, epoch + seconds(10)).remaining ==
        10);
  FixedWindowState aligned;
  charge(window(minutes(1), Anchor::clock), aligned, epoch + minutes(30) + seconds(1), 8);
  CHECK(level(window(hours(1), Anchor::clock), aligned, epoch + minutes(59)).reset_after ==
        minutes(1));
}

TEST_CASE(
    "reload: any state read under any policy of its algorithm stays within bounds, and its hints "
    "are true") {
  const TestSeed seed;
  Random random(seed);
  for (const Algorithm algorithm :
       {Algorithm::fixed_window, Algorithm::attributed_window, Algorithm::sliding_window,
        Algorithm::sliding_log, Algorithm::token_bucket, Algorithm::gcra,
        Algorithm::leaky_bucket}) {
    for (int i = 0; i < 200; ++i) {
      INFO(to_string(algorithm) << " " << i);
      const Policy before = policy_of(random_definition(random, algorithm));
      const Policy after = policy_of(random_definition(random, algorithm));
      with_state_of(algorithm, [&](auto state) {
        Decision last{};
        Instant now = epoch;
        for (int step = 0; step < 20; ++step) {
          now += random_step(random, before, last);
          last = decide(before, state, now, random_demand(random, before, last));
        }
        now += random_step(random, after, last);
        const Demand demand{.cost = random.between(1, after.capacity)};
        const Level shown = level(after, state, now);
        REQUIRE(shown.remaining >= 0);
        REQUIRE(shown.remaining <= after.capacity);
        REQUIRE(shown.reset_after <= from_empty_to_whole(after));
        REQUIRE(level(after, state, std::max(now, whole_at(after, state))).reset_after ==
                Duration{0});
        const Decision decision = decide(after, state, now, demand);
        REQUIRE(decision.allowed == (demand.cost <= shown.remaining));
        if (!decision.allowed) {
          REQUIRE(decision.retry_after.has_value());
          REQUIRE(admit(after, state, now + *decision.retry_after, demand).allowed);
        }
        REQUIRE(level(after, state, now + decision.reset_after).remaining == after.capacity);
      });
    }
  }
}

TEST_CASE("reload: slots in use stay counted when the limit of concurrency changes") {
  const auto of = [](std::int64_t limit) {
    return policy_of({.algorithm = Algorithm::concurrency, .limit = limit});
  };
  const ConcurrencyState state;
  const Holds holds{.held = 8};
  CHECK(level_beside(of(20), state, holds, epoch).remaining == 12);
  CHECK(level_beside(of(5), state, holds, epoch).remaining == 0);
  CHECK_FALSE(admit_beside(of(5), state, holds, epoch, {}).allowed);
}

}  // namespace weir::rules::test
