#include "rules/sliding_log.hpp"

#include "catch.hpp"
#include "sequence.hpp"

namespace weir::rules::test {

namespace {

Policy sliding_log(Rate rate, bool count_rejected = false) {
  return policy_of(
      {.algorithm = Algorithm::sliding_log, .rates = {rate}, .count_rejected = count_rejected});
}

}  // namespace

TEST_CASE("sliding_log: exact over any window") {
  run<SlidingLogState>(
      sliding_log({3, seconds(10)}),
      {
          {seconds(0), 1, true, 2, seconds(10), passed},
          {seconds(4), 1, true, 1, seconds(10), passed},
          {seconds(9), 1, true, 0, seconds(10), passed},
          {seconds(9), 1, false, 0, seconds(10), seconds(1)},
          {seconds(9), 2, false, 0, seconds(10), seconds(5)},
          {seconds(9), 3, false, 0, seconds(10), seconds(10)},
          {seconds(9), 4, false, 0, seconds(10), never},
          {seconds(9), 0, true, 0, seconds(10), passed},
          // an entry exactly one window old is out
          {microseconds(9'999'999), 1, false, 0, microseconds(9'000'001), microseconds(1)},
          {seconds(10), 1, true, 0, seconds(10), passed},
          {seconds(19), 2, true, 0, seconds(10), passed},
      });
}

TEST_CASE("sliding_log: any number of requests in one instant counts in full") {
  // Sorted sets whose member is the time stamp count such requests once (rolling-rate-limiter#11).
  const Policy policy = sliding_log({1000, seconds(1)});
  SlidingLogState state;
  for (int i = 0; i < 1000; ++i)
    CHECK(decide(policy, state, epoch, {}).allowed);
  CHECK_FALSE(decide(policy, state, epoch, {}).allowed);
  CHECK(state.entries.size() == 1);
}

TEST_CASE("sliding_log: rejected requests are free by default") {
  const Policy policy = sliding_log({5, minutes(1)});
  SlidingLogState state;
  std::int64_t admitted = 0;
  for (int second = 0; second < 600; ++second) {
    admitted += decide(policy, state, epoch + seconds(second), {}).allowed ? 1 : 0;
  }
  CHECK(admitted == 50);
}

TEST_CASE("sliding_log: with count_rejected a client that never stops never recovers") {
  const Policy policy = sliding_log({5, minutes(1)}, true);
  SlidingLogState state;
  std::int64_t admitted = 0;
  for (int second = 0; second < 600; ++second) {
    admitted += decide(policy, state, epoch + seconds(second), {}).allowed ? 1 : 0;
  }
  CHECK(admitted == 5);
  CHECK(state.entries.size() <= 10);
  // Until the oldest of the last five requests leaves the window.
  const Decision last = decide(policy, state, epoch + seconds(600), {});
  CHECK(last.retry_after == seconds(56));
  CHECK(decide(policy, state, epoch + seconds(656), {}).allowed);
}

TEST_CASE("sliding_log: a rejected cost counts up to the quota, in its own retry_after, too") {
  run<SlidingLogState>(sliding_log({3, seconds(10)}, true),
                       {
                           {seconds(0), huge, false, 0, seconds(10), never},
                           {seconds(1), 1, false, 0, seconds(10), seconds(9)},
                           {seconds(2), 2, false, 0, seconds(10), seconds(10)},
                           {seconds(10), 0, true, 0, seconds(2), passed},
                           {seconds(11), 1, true, 0, seconds(10), passed},
                       });
}

TEST_CASE("sliding_log: memory is bounded by the quota") {
  for (const bool count_rejected : {false, true}) {
    const Policy policy = sliding_log({50, seconds(1)}, count_rejected);
    SlidingLogState state;
    std::size_t most = 0;
    for (int i = 0; i < 20'000; ++i) {
      decide(policy, state, epoch + milliseconds(i), {});
      most = std::max(most, state.entries.size());
    }
    CHECK(most <= 100);
  }
}

TEST_CASE("sliding_log: a clock that steps back adds to the newest entry") {
  const Policy policy = sliding_log({3, seconds(10)});
  SlidingLogState state;
  charge(policy, state, epoch, 1);
  CHECK(decide(policy, state, epoch - hours(1), {}).remaining == 1);
  CHECK(state.entries.size() == 1);
  CHECK(decide(policy, state, epoch - hours(1), {.cost = 5, .overdraft = true}).remaining == 0);
  CHECK_FALSE(decide(policy, state, epoch + seconds(9), {}).allowed);
  CHECK(decide(policy, state, epoch + seconds(10), {.cost = 3}).allowed);
}

}  // namespace weir::rules::test
