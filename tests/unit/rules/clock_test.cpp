// A clock that steps back at random: never admits more than up to the latest instant reached.
#include "catch.hpp"
#include "model.hpp"
#include "random_policy.hpp"
#include "rules/holds.hpp"
#include "seed.hpp"

namespace weir::rules::test {

namespace {

bool is_arrival_time(Algorithm algorithm) {
  return algorithm == Algorithm::gcra || algorithm == Algorithm::leaky_bucket;
}

/// The time of a state is that of its latest charge: an earlier `now` admits at most as much as
/// that instant.
template <class State>
void check_stepping_back(const Policy& policy, Random& random, State state) {
  std::vector<Charge> charges;
  Decision last{};
  Instant now = epoch + Duration{to_us(days(62))};
  Instant reached{};
  for (int step = 0; step < 100; ++step) {
    now += random_step(random, policy, last);
    if (random.one_in(5)) now -= Duration{random.between(0, 2 * to_us(policy.rates[0].per))};
    const Demand demand = random_demand(random, policy, last);
    const std::int64_t left = units_left(policy, charges, std::max(now, reached));
    CAPTURE(step, to_us(now), to_us(reached), demand.cost, left);

    const Admission admission = admit(policy, state, now, demand);
    if (admission.allowed) REQUIRE(admission.units <= left);
    // For a TAT a clock that steps back means a longer wait; for the others it changes nothing.
    if (!is_arrival_time(policy.algorithm)) REQUIRE(level(policy, state, now).remaining == left);
    last = decide(policy, state, now, demand);
    REQUIRE(last.remaining >= 0);
    REQUIRE(last.reset_after >= Duration{0});
    REQUIRE(last.more_after >= Duration{0});
    const std::int64_t rejected =
        policy.count_rejected ? std::min(demand.cost, policy.capacity) : 0;
    const std::int64_t taken = admission.allowed ? admission.units : rejected;
    if (taken == 0) continue;
    reached = std::max(reached, now);
    charges.push_back({reached, taken});
    if (!last.allowed) continue;
    REQUIRE(last.remaining <= units_left(policy, charges, reached));
  }
}

}  // namespace

TEST_CASE("clock: stepping back grants nothing, whatever the algorithm") {
  const TestSeed seed;
  Random random(seed);
  for (const Algorithm algorithm :
       {Algorithm::fixed_window, Algorithm::attributed_window, Algorithm::sliding_window,
        Algorithm::sliding_log, Algorithm::token_bucket, Algorithm::gcra,
        Algorithm::leaky_bucket}) {
    for (int i = 0; i < 60; ++i) {
      INFO(to_string(algorithm) << " " << i);
      const Policy policy = policy_of(random_definition(random, algorithm));
      with_state_of(algorithm,
                    [&](auto state) { check_stepping_back(policy, random, std::move(state)); });
    }
  }
}

TEST_CASE("clock: concurrency does not depend on it") {
  const Policy policy = policy_of({.algorithm = Algorithm::concurrency, .limit = 2});
  const ConcurrencyState state;
  const Holds holds{.held = 1};
  for (const Instant now : {epoch, epoch + days(1), epoch - days(1), Instant{}}) {
    CHECK(admit_beside(policy, state, holds, now, {}).allowed);
    CHECK_FALSE(admit_beside(policy, state, holds, now, {.cost = 2}).allowed);
    CHECK(level_beside(policy, state, holds, now).remaining == 1);
  }
}

}  // namespace weir::rules::test
