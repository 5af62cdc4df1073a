#include "rules/leaky_bucket.hpp"

#include "catch.hpp"
#include "sequence.hpp"

namespace weir::rules::test {

namespace {

Policy leaky_bucket(Rate rate, std::optional<std::int64_t> queue,
                    std::optional<Duration> max_delay = {}) {
  return policy_of({.algorithm = Algorithm::leaky_bucket,
                    .rates = {rate},
                    .queue = queue,
                    .max_delay = max_delay});
}

constexpr Duration ms = milliseconds(1);

}  // namespace

// nginx ngx_http_limit_req_module: excess = max(0, excess - rate * elapsed + 1); above `burst` it
// is rejected and not accounted, else delayed by excess / rate.
TEST_CASE("leaky_bucket: nginx limit_req rate=2r/s burst=5") {
  run<LeakyBucketState>(
      leaky_bucket({2, seconds(1)}, 5),
      {
          // one passes, five wait, half a second apart
          {0 * ms, 1, true, 5, 500 * ms, passed, 0 * ms},
          {0 * ms, 1, true, 4, 1000 * ms, passed, 500 * ms},
          {0 * ms, 1, true, 3, 1500 * ms, passed, 1000 * ms},
          {0 * ms, 1, true, 2, 2000 * ms, passed, 1500 * ms},
          {0 * ms, 1, true, 1, 2500 * ms, passed, 2000 * ms},
          {0 * ms, 1, true, 0, 3000 * ms, passed, 2500 * ms},
          // the seventh does not fit; it is not counted, so a place is free after 1/rate
          {0 * ms, 1, false, 0, 3000 * ms, 500 * ms},
          {499 * ms, 1, false, 0, 2501 * ms, 1 * ms},
          {500 * ms, 1, true, 0, 3000 * ms, passed, 2500 * ms},
          // late enough: no excess, no delay, and no credit for the pause
          {10'000 * ms, 1, true, 5, 500 * ms, passed, 0 * ms},
          {10'100 * ms, 1, true, 4, 900 * ms, passed, 400 * ms},
      });
}

TEST_CASE("leaky_bucket: without a queue what is early is denied, as in limit_req without burst") {
  run<LeakyBucketState>(leaky_bucket({2, seconds(1)}, {}),
                        {
                            {0 * ms, 1, true, 0, 500 * ms, passed},
                            {1 * ms, 1, false, 0, 499 * ms, 499 * ms},
                            {500 * ms, 1, true, 0, 500 * ms, passed},
                            {500 * ms, 2, false, 0, 500 * ms, never},
                        });
}

// golang.org/x/time rate_test.go TestReserveMax, with one at once: a request that would act later
// than max is refused.
TEST_CASE("leaky_bucket: max_delay bounds the wait") {
  const Policy policy = leaky_bucket({10, seconds(1)}, 10, 100 * ms);
  run<LeakyBucketState>(policy, {
                                    {0 * ms, 1, true, 10, 100 * ms, passed, 0 * ms},
                                    {0 * ms, 1, true, 0, 200 * ms, passed, 100 * ms},
                                    {0 * ms, 1, false, 0, 200 * ms, 100 * ms},
                                    {99 * ms, 1, false, 0, 101 * ms, 1 * ms},
                                    {100 * ms, 1, true, 0, 200 * ms, passed, 100 * ms},
                                });
  // A demand that takes many intervals does not wait for them: later demands do.
  run<LeakyBucketState>(policy, {
                                    {0 * ms, 11, true, 0, 1100 * ms, passed, 0 * ms},
                                    {0 * ms, 12, false, 0, 1100 * ms, never},
                                    {0 * ms, 1, false, 0, 1100 * ms, 1000 * ms},
                                    {1000 * ms, 1, true, 0, 200 * ms, passed, 100 * ms},
                                });
}

TEST_CASE("leaky_bucket: delays are rounded up to microseconds, turns are not") {
  run<LeakyBucketState>(
      leaky_bucket({3, seconds(1)}, 3),
      {
          {0 * ms, 1, true, 3, microseconds(333'334), passed, 0 * ms},
          {0 * ms, 1, true, 2, microseconds(666'667), passed, microseconds(333'334)},
          {0 * ms, 1, true, 1, seconds(1), passed, microseconds(666'667)},
          {0 * ms, 1, true, 0, microseconds(1'333'334), passed, seconds(1)},
      });
}

TEST_CASE("leaky_bucket: looking waits for nothing") {
  run<LeakyBucketState>(leaky_bucket({1, seconds(1)}, 1),
                        {
                            {0 * ms, 2, true, 0, 2000 * ms, passed},
                            {0 * ms, 0, true, 0, 2000 * ms, passed},
                            {0 * ms, huge, false, 0, 2000 * ms, never},
                        });
}

TEST_CASE("leaky_bucket: under a raised rate at most one full queue of it has to be waited for") {
  LeakyBucketState state;
  charge(leaky_bucket({1, minutes(1)}, 9), state, epoch, 10);
  const Policy raised = leaky_bucket({10, seconds(1)}, 9);
  CHECK(whole_at(raised, state) == epoch + seconds(1));
  run<LeakyBucketState>(raised,
                        {
                            {0 * ms, 1, false, 0, 1000 * ms, 100 * ms},
                            {99 * ms, 1, false, 0, 901 * ms, 1 * ms},
                            {100 * ms, 1, true, 0, 1000 * ms, passed, 900 * ms},
                            {1100 * ms, 1, true, 9, 100 * ms, passed, 0 * ms},
                        },
                        state);
  run<LeakyBucketState>(raised, {{1000 * ms, 1, true, 9, 100 * ms, passed, 0 * ms}}, state);
}

TEST_CASE("leaky_bucket: queue and max_delay default to each other") {
  CHECK(leaky_bucket({50, seconds(1)}, 100).max_delay == seconds(2));
  CHECK(leaky_bucket({50, seconds(1)}, {}, seconds(2)).queue == 100);
  CHECK(leaky_bucket({3, seconds(1)}, {}, microseconds(666'666)).queue == 1);
  CHECK(leaky_bucket({3, seconds(1)}, {}, microseconds(666'667)).queue == 2);
  CHECK(leaky_bucket({50, seconds(1)}, {}).queue == 0);
  CHECK(leaky_bucket({50, seconds(1)}, 100).capacity == 101);
}

}  // namespace weir::rules::test
