// No drift: after ten million takings of whatever is there, the count is exact to the unit.
#include "catch.hpp"
#include "seed.hpp"
#include "sequence.hpp"

namespace weir::rules::test {

namespace {

constexpr std::int64_t steps = history_length(std::int64_t{10'000'000});

/// Takes all there is at every step; what a rate of count/per emits is floor(elapsed * count /
/// per), and the capacity was there at the start.
template <class State>
void check_exact_total(Algorithm algorithm, Rate rate, std::int64_t longest_step_us) {
  Definition definition{.algorithm = algorithm, .rates = {rate}};
  if (algorithm == Algorithm::leaky_bucket) definition.queue = rate.count;
  const Policy policy = policy_of(definition);
  State state;
  std::int64_t total = 0;
  std::int64_t elapsed_us = 0;
  std::int64_t step_us = 0;
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < steps; ++i) {
    const Instant now = epoch + Duration{elapsed_us};
    const Admission admission =
        admit(policy, state, now, {.cost = policy.capacity, .overdraft = true});
    charge(policy, state, now, admission.units);
    total += admission.units;
    if (i % 1024 == 0 || i + 1 == steps) {
      wrong += total == policy.capacity + elapsed_us * rate.count / to_us(rate.per) ? 0 : 1;
    }
    step_us = step_us * 5 % longest_step_us + 1;
    elapsed_us += step_us;
  }
  CHECK(wrong == 0);
  CHECK(elapsed_us > steps);
}

}  // namespace

TEST_CASE("drift: 7/s") {
  SECTION("gcra") {
    check_exact_total<GcraState>(Algorithm::gcra, {7, seconds(1)}, 100'003);
  }
  SECTION("token_bucket") {
    check_exact_total<TokenBucketState>(Algorithm::token_bucket, {7, seconds(1)}, 100'003);
  }
  SECTION("leaky_bucket") {
    check_exact_total<LeakyBucketState>(Algorithm::leaky_bucket, {7, seconds(1)}, 100'003);
  }
}

TEST_CASE("drift: 300,000/s") {
  const Rate rate{300'000, seconds(1)};
  SECTION("gcra") {
    check_exact_total<GcraState>(Algorithm::gcra, rate, 7);
  }
  SECTION("token_bucket") {
    check_exact_total<TokenBucketState>(Algorithm::token_bucket, rate, 7);
  }
  SECTION("leaky_bucket") {
    check_exact_total<LeakyBucketState>(Algorithm::leaky_bucket, rate, 7);
  }
}

}  // namespace weir::rules::test
