#include "rules/token_bucket.hpp"

#include "catch.hpp"
#include "sequence.hpp"

namespace weir::rules::test {

namespace {

Policy token_bucket(Rate rate, std::int64_t burst) {
  return policy_of({.algorithm = Algorithm::token_bucket, .rates = {rate}, .burst = burst});
}

constexpr Duration d = milliseconds(100);

}  // namespace

// golang.org/x/time rate/rate_test.go: TestLimiterBurst1, TestLimiterBurst3,
// TestLimiterJumpBackwards.
TEST_CASE("token_bucket: the tables of golang.org/x/time/rate") {
  run<TokenBucketState>(token_bucket({10, seconds(1)}, 1), {
                                                               Answer{0 * d, 1, true},
                                                               {0 * d, 1, false},
                                                               {0 * d, 1, false},
                                                               {1 * d, 1, true},
                                                               {1 * d, 1, false},
                                                               {1 * d, 1, false},
                                                               // above the burst
                                                               {2 * d, 2, false},
                                                               {2 * d, 1, true},
                                                               {2 * d, 1, false},
                                                           });
  run<TokenBucketState>(token_bucket({10, seconds(1)}, 3), {
                                                               Answer{0 * d, 2, true},
                                                               {0 * d, 2, false},
                                                               {0 * d, 1, true},
                                                               {0 * d, 1, false},
                                                               {1 * d, 4, false},
                                                               {2 * d, 1, true},
                                                               {3 * d, 1, true},
                                                               {4 * d, 1, true},
                                                               {4 * d, 1, true},
                                                               {4 * d, 1, false},
                                                               {4 * d, 1, false},
                                                               {9 * d, 3, true},
                                                               {9 * d, 0, true},
                                                           });
  // Jumping back: the tokens left pass. x/time then writes the older time back and grants the time
  // up to d again; here the time of the state stays, so the token at d is not available yet.
  run<TokenBucketState>(token_bucket({10, seconds(1)}, 3), {
                                                               Answer{1 * d, 1, true},
                                                               {0 * d, 1, true},
                                                               {0 * d, 1, true},
                                                               {0 * d, 1, false},
                                                               {0 * d, 1, false},
                                                               {1 * d, 1, false},
                                                               {2 * d, 1, true},
                                                               {2 * d, 1, false},
                                                           });
}

// BitMEX node-redis-token-bucket-ratelimiter, test/_test-common.js.
TEST_CASE("token_bucket: the sequences of BitMEX's limiter") {
  SECTION("out of tokens; more than one; more than the limit; zero") {
    const Duration third = microseconds(1'666'667);
    run<TokenBucketState>(token_bucket({3, seconds(5)}, 3),
                          {
                              {seconds(0), 1, true, 2, third, passed},
                              {seconds(0), 1, true, 1, microseconds(3'333'334), passed},
                              {seconds(0), 1, true, 0, seconds(5), passed},
                              {seconds(0), 1, false, 0, seconds(5), third},
                              {seconds(0), 0, true, 0, seconds(5), passed},
                              {seconds(0), 4, false, 0, seconds(5), never},
                              {seconds(5), 3, true, 0, seconds(5), passed},
                          });
  }
  SECTION("slowly refills") {
    run<TokenBucketState>(
        token_bucket({2, milliseconds(500)}, 2),
        {
            {milliseconds(0), 2, true, 0, milliseconds(500), passed},
            {milliseconds(150), 1, false, 0, milliseconds(350), milliseconds(100)},
            {milliseconds(250), 1, true, 0, milliseconds(500), passed},
            {milliseconds(850), 1, true, 1, milliseconds(250), passed},
        });
  }
  SECTION("skewed clocks do not deduct") {
    run<TokenBucketState>(token_bucket({100, milliseconds(500)}, 100),
                          {
                              {milliseconds(300), 1, true, 99, milliseconds(5), passed},
                              {milliseconds(0), 1, true, 98, milliseconds(310), passed},
                          });
  }
}

TEST_CASE("token_bucket: a charge keeps the fraction of the next token") {
  // 3/s: the third token is there after exactly one second, however often one looked and took.
  run<TokenBucketState>(
      token_bucket({3, seconds(1)}, 3),
      {
          {microseconds(0), 3, true, 0, seconds(1), passed},
          {microseconds(333'333), 1, false, 0, microseconds(666'667), microseconds(1)},
          {microseconds(333'334), 1, true, 0, microseconds(1'000'000), passed},
          {microseconds(666'666), 1, false, 0, microseconds(666'668), microseconds(1)},
          {microseconds(666'667), 1, true, 0, microseconds(1'000'000), passed},
          {microseconds(999'999), 1, false, 0, microseconds(666'668), microseconds(1)},
          {microseconds(1'000'000), 1, true, 0, seconds(1), passed},
      });
}

TEST_CASE("token_bucket: overdraft drains, and charging is bounded") {
  const Policy policy = token_bucket({1, hours(1)}, 10);
  TokenBucketState state;
  CHECK(decide(policy, state, epoch, {.cost = 4}).remaining == 6);
  const Decision drained = decide(policy, state, epoch, {.cost = huge, .overdraft = true});
  CHECK(drained.allowed);
  CHECK(drained.reset_after == hours(10));
  charge(policy, state, epoch, huge);
  charge(policy, state, epoch, -huge);
  CHECK(state == TokenBucketState{epoch, 10, 0});
}

TEST_CASE("token_bucket: two nodes with skewed clocks get nothing by taking turns") {
  // Traefik's Lua wrote the older time back and minted the skew again at every turn.
  const Policy policy = token_bucket({1, seconds(1)}, 5);
  TokenBucketState state;
  std::int64_t admitted = 0;
  for (int turn = 0; turn < 100; ++turn) {
    const Instant now = turn % 2 == 0 ? epoch : epoch - seconds(10);
    admitted += decide(policy, state, now, {}).allowed ? 1 : 0;
  }
  CHECK(admitted == 5);
}

}  // namespace weir::rules::test
