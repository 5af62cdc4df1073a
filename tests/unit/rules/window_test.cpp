#include "rules/window.hpp"

#include "catch.hpp"
#include "sequence.hpp"

namespace weir::rules::test {

namespace {

Policy ten_seconds(Anchor anchor) {
  return policy_of(
      {.algorithm = Algorithm::fixed_window, .rates = {{5, seconds(10)}}, .anchor = anchor});
}

Instant at_us(std::int64_t us) {
  return instant_from_us(us);
}

}  // namespace

TEST_CASE("window: anchored to the first request, it starts at that request") {
  const Policy policy = ten_seconds(Anchor::first_request);
  CHECK(window_start(policy, at_us(12'345'678)) == at_us(12'345'678));
  CHECK(window_end(policy, at_us(12'345'678)) == at_us(22'345'678));
}

TEST_CASE("window: anchored to the clock, it starts at a multiple of its length") {
  const Policy policy = ten_seconds(Anchor::clock);
  CHECK(window_start(policy, at_us(0)) == at_us(0));
  CHECK(window_start(policy, at_us(9'999'999)) == at_us(0));
  CHECK(window_start(policy, at_us(10'000'000)) == at_us(10'000'000));
  CHECK(window_start(policy, at_us(-1)) == at_us(-10'000'000));
  // a start that is not aligned, from before a reload, means the window around it
  CHECK(window_end(policy, at_us(12'000'000)) == at_us(20'000'000));
  CHECK(window_end(policy, at_us(10'000'000)) == at_us(20'000'000));
}

TEST_CASE("window: units count until the instant of its end, and in the past too") {
  const Policy policy = ten_seconds(Anchor::first_request);
  const FixedWindowState state{.start = at_us(1'000'000), .used = 3};
  CHECK(used_at(policy, state, at_us(10'999'999)) == 3);
  CHECK(used_at(policy, state, at_us(11'000'000)) == 0);
  CHECK(used_at(policy, state, at_us(0)) == 3);
  CHECK(end_of_window(policy, state) == at_us(11'000'000));
  CHECK(end_of_window(policy, FixedWindowState{.start = at_us(1'000'000)}) == Instant{});
}

TEST_CASE("window: more units than the quota, from before a reload, leave nothing") {
  const Policy policy = ten_seconds(Anchor::first_request);
  const FixedWindowState state{.start = at_us(0), .used = 9};
  const Admission denied = admit_in_window(policy, state, at_us(4'000'000), {.cost = 1});
  CHECK_FALSE(denied.allowed);
  CHECK(denied.retry_after == seconds(6));
  const Admission overdraft =
      admit_in_window(policy, state, at_us(4'000'000), {.cost = 1, .overdraft = true});
  CHECK(overdraft.allowed);
  CHECK(overdraft.units == 0);
  CHECK(admit_in_window(policy, state, at_us(4'000'000), {.cost = 0}).allowed);
  CHECK(admit_in_window(policy, state, at_us(4'000'000), {.cost = -1}).units == 0);
  const Level level = level_of_window(policy, state, at_us(4'000'000));
  CHECK(level.remaining == 0);
  CHECK(level.reset_after == seconds(6));
  CHECK(level.more_after == seconds(6));
}

TEST_CASE("window: a cost above the quota never passes") {
  const Policy policy = ten_seconds(Anchor::first_request);
  const Admission admission = admit_in_window(policy, FixedWindowState{}, at_us(0), {.cost = 6});
  CHECK_FALSE(admission.allowed);
  CHECK_FALSE(admission.retry_after);
  const Admission overdraft =
      admit_in_window(policy, FixedWindowState{}, at_us(0), {.cost = 6, .overdraft = true});
  CHECK(overdraft.allowed);
  CHECK(overdraft.units == 5);
}

}  // namespace weir::rules::test
