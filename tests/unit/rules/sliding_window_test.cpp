#include "rules/sliding_window.hpp"

#include "catch.hpp"
#include "sequence.hpp"

namespace weir::rules::test {

namespace {

Policy sliding_window(std::vector<Rate> rates) {
  return policy_of({.algorithm = Algorithm::sliding_window, .rates = std::move(rates)});
}

constexpr Duration one_ms = milliseconds(1);

}  // namespace

TEST_CASE("sliding_window: the oldest sub-window counts in proportion, rounded up") {
  // Sub-windows of 1 s, a share of 10 units.
  const Policy policy = sliding_window({{100, seconds(10)}});
  SlidingWindowState state;
  for (int second = 0; second < 10; ++second) {
    CHECK(decide(policy, state, epoch + seconds(second) + 500 * one_ms, {.cost = 10}).allowed);
  }
  run(policy,
      {
          {9'500 * one_ms, 1, false, 0, 10'500 * one_ms, 600 * one_ms},
          // the sub-window of second 0 becomes the oldest, partly outside one
          {10'000 * one_ms, 1, false, 0, 10'000 * one_ms, 100 * one_ms},
          {10'099 * one_ms, 1, false, 0, 9'901 * one_ms, 1 * one_ms},
          {10'100 * one_ms, 0, true, 1, 9'900 * one_ms, passed},
          {10'999 * one_ms, 0, true, 9, 9'001 * one_ms, passed},
          {11'000 * one_ms, 0, true, 10, 9'000 * one_ms, passed},
          {11'000 * one_ms, 11, false, 10, 9'000 * one_ms, 100 * one_ms},
          {11'000 * one_ms, 100, false, 10, 9'000 * one_ms, 9'000 * one_ms},
          {11'000 * one_ms, 101, false, 10, 9'000 * one_ms, never},
          {20'000 * one_ms, 0, true, 100, 0 * one_ms, passed},
      },
      state);
}

TEST_CASE(
    "sliding_window: a burst in one sub-window is forgiven a tenth early, the rest when all of it "
    "is out") {
  run<SlidingWindowState>(sliding_window({{100, seconds(10)}}),
                          {
                              {999 * one_ms, 100, true, 0, 10'001 * one_ms, passed},
                              {10'000 * one_ms, 1, false, 0, 1'000 * one_ms, 10 * one_ms},
                              {10'099 * one_ms, 10, false, 9, 901 * one_ms, 1 * one_ms},
                              {10'100 * one_ms, 11, false, 10, 900 * one_ms, 900 * one_ms},
                              {10'100 * one_ms, 10, true, 0, 10'900 * one_ms, passed},
                              {10'999 * one_ms, 1, false, 0, 10'001 * one_ms, 1 * one_ms},
                              {11'000 * one_ms, 90, true, 0, 11'000 * one_ms, passed},
                          });
}

TEST_CASE("sliding_window: a quota of one") {
  run<SlidingWindowState>(sliding_window({{1, seconds(10)}}),
                          {
                              {0 * one_ms, 1, true, 0, 11'000 * one_ms, passed},
                              {10'999 * one_ms, 1, false, 0, 1 * one_ms, 1 * one_ms},
                              {11'000 * one_ms, 1, true, 0, 11'000 * one_ms, passed},
                          });
}

TEST_CASE("sliding_window: every tier must allow, and the hint satisfies all of them") {
  // A burst in 1 s, but not sustained over 10 s or 15 s.
  const Policy policy =
      sliding_window({{1000, seconds(1)}, {5000, seconds(10)}, {7000, seconds(15)}});
  CHECK(policy.capacity == 1000);
  CHECK(policy.refill == seconds(1));
  SlidingWindowState state;
  for (const Answer& row : {
           Answer{seconds(0), 1000, true},
           {seconds(2), 1000, true},
           {seconds(4), 1000, true},
           {seconds(6), 1000, true},
           {seconds(8), 1000, true},
           // the 10 s tier holds 5000 until the sub-window of second 0 is out
           {seconds(10), 1000, false},
           {seconds(12), 1000, true},
           {seconds(14), 1000, true},
           // the 15 s tier holds 7000 less the part of second 0 that is out
           {seconds(16), 1000, false},
           {seconds(18), 1000, true},
       }) {
    INFO(to_us(row.now));
    CHECK(decide(policy, state, epoch + row.now, {.cost = row.cost}).allowed == row.allowed);
  }
  const Decision denied = decide(policy, state, epoch + seconds(18), {.cost = 1000});
  CHECK_FALSE(denied.allowed);
  REQUIRE(denied.retry_after.has_value());
  const Instant retry = epoch + seconds(18) + *denied.retry_after;
  CHECK_FALSE(admit(policy, state, retry - microseconds(1), {.cost = 1000}).allowed);
  CHECK(admit(policy, state, retry, {.cost = 1000}).allowed);
}

TEST_CASE("sliding_window: a tier whose use falls below it again counts all that was admitted") {
  run<SlidingWindowState>(sliding_window({{2, seconds(1)}, {3, seconds(10)}}),
                          {
                              {0 * one_ms, 2, true, 0, 11'000 * one_ms, passed},
                              {0 * one_ms, 1, false, 0, 11'000 * one_ms, 1'050 * one_ms},
                              {1'100 * one_ms, 1, true, 0, 10'900 * one_ms, passed},
                              {5'000 * one_ms, 1, false, 0, 7'000 * one_ms, 5'500 * one_ms},
                              {5'000 * one_ms, 3, false, 0, 7'000 * one_ms, never},
                          });
}

TEST_CASE("sliding_window: one window later the quota is back, two sub-windows do not suffice") {
  const Policy policy = sliding_window({{6, minutes(1)}});
  SlidingWindowState state;
  CHECK(decide(policy, state, epoch + seconds(7), {.cost = 6}).allowed);
  CHECK_FALSE(decide(policy, state, epoch + seconds(19), {}).allowed);
  CHECK(decide(policy, state, epoch + seconds(72), {.cost = 6}).allowed);
}

TEST_CASE("sliding_window: overdraft, huge and negative charges") {
  const Policy policy = sliding_window({{10, seconds(10)}});
  SlidingWindowState state;
  charge(policy, state, epoch, 4);
  CHECK(admit(policy, state, epoch, {.cost = huge, .overdraft = true}).units == 6);
  CHECK_FALSE(admit(policy, state, epoch, {.cost = huge}).retry_after.has_value());
  charge(policy, state, epoch, huge);
  charge(policy, state, epoch, -huge);
  CHECK(level(policy, state, epoch).remaining == 0);
  CHECK(level(policy, state, epoch + seconds(11)).remaining == 10);
}

TEST_CASE("sliding_window: a clock that steps back counts in the newest sub-window") {
  const Policy policy = sliding_window({{3, seconds(10)}});
  SlidingWindowState state;
  charge(policy, state, epoch + seconds(30), 2);
  CHECK(decide(policy, state, epoch, {}).remaining == 0);
  CHECK_FALSE(decide(policy, state, epoch, {}).allowed);
  const Decision denied = decide(policy, state, epoch + seconds(30), {.cost = 3});
  CHECK(denied.retry_after == seconds(11));
}

}  // namespace weir::rules::test
