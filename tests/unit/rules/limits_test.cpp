// Every rate from one a month to a million a second, with every algorithm: the quota passes, one
// more does not, and the hints are true to the microsecond.
#include "catch.hpp"
#include "rules/holds.hpp"
#include "sequence.hpp"

namespace weir::rules::test {

namespace {

constexpr Duration one_us{1};

template <class State>
void check_limit(const Policy& policy, State state) {
  const Instant start = epoch + one_us;
  const Decision all = decide(policy, state, start, {.cost = policy.capacity});
  REQUIRE(all.allowed);
  REQUIRE(all.remaining == 0);
  const Decision denied = decide(policy, state, start, {});
  REQUIRE_FALSE(denied.allowed);
  REQUIRE(denied.retry_after.has_value());
  REQUIRE_FALSE(admit(policy, state, start + *denied.retry_after - one_us, {}).allowed);
  REQUIRE(admit(policy, state, start + *denied.retry_after, {}).allowed);

  const Instant whole = start + all.reset_after;
  REQUIRE(whole_at(policy, state) == whole);
  REQUIRE(level(policy, state, whole - one_us).reset_after == one_us);
  REQUIRE(decide(policy, state, whole, {.cost = policy.capacity}).allowed);
  REQUIRE_FALSE(decide(policy, state, whole, {}).allowed);
}

}  // namespace

TEST_CASE("limits: from 1/31d to 1,000,000/s") {
  for (const Algorithm algorithm :
       {Algorithm::fixed_window, Algorithm::attributed_window, Algorithm::sliding_window,
        Algorithm::sliding_log, Algorithm::token_bucket, Algorithm::gcra,
        Algorithm::leaky_bucket}) {
    const bool lists =
        algorithm == Algorithm::sliding_log || algorithm == Algorithm::attributed_window;
    for (const Duration per :
         {Duration(seconds(1)), Duration(seconds(15)), Duration(minutes(1)), Duration(hours(1)),
          Duration(days(1)), Duration(days(30)), Duration(days(31))}) {
      for (const std::int64_t count :
           {1, 2, 3, 7, 10, 60, 1'000, 6'999, 99'991, 300'000, 999'983, 1'000'000}) {
        if (lists && count > 100'000) continue;
        INFO(to_string(algorithm) << " " << count << "/" << to_us(per) << "us");
        Definition definition{.algorithm = algorithm, .rates = {{count, per}}};
        if (algorithm == Algorithm::leaky_bucket) definition.queue = count - 1;
        const Policy policy = policy_of(definition);
        REQUIRE(policy.capacity == count);
        REQUIRE(policy.refill == per);
        with_state_of(algorithm, [&](auto state) { check_limit(policy, std::move(state)); });
      }
    }
  }
}

TEST_CASE("limits: concurrency admits its limit at once, and one more after a release") {
  for (const std::int64_t limit :
       {std::int64_t{1}, std::int64_t{20}, (std::int64_t{1} << 52) - 1}) {
    CAPTURE(limit);
    const Policy policy = policy_of({.algorithm = Algorithm::concurrency, .limit = limit});
    ConcurrencyState state;
    Holds holds;
    REQUIRE(admit_beside(policy, state, holds, epoch, {.cost = limit}).allowed);
    hold(holds, limit);
    CHECK(admit_beside(policy, state, holds, epoch, {}).retry_after == hold_retry_after);
    settle(policy, state, holds, epoch, 1, 0);
    CHECK(admit_beside(policy, state, holds, epoch, {}).allowed);
    CHECK_FALSE(admit_beside(policy, state, holds, epoch, {.cost = limit + 1}).retry_after);
  }
  for (const std::int64_t limit : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 52})
    CHECK_FALSE(compile({.algorithm = Algorithm::concurrency, .limit = limit}).has_value());
}

}  // namespace weir::rules::test
