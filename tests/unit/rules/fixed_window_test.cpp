#include "rules/fixed_window.hpp"

#include "catch.hpp"
#include "rules/span.hpp"
#include "sequence.hpp"

namespace weir::rules::test {

namespace {

Policy fixed_window(Rate rate, Anchor anchor = Anchor::first_request, bool count_rejected = false) {
  return policy_of({.algorithm = Algorithm::fixed_window,
                    .rates = {rate},
                    .anchor = anchor,
                    .count_rejected = count_rejected});
}

}  // namespace

TEST_CASE("fixed_window: the first request starts the window") {
  run<FixedWindowState>(
      fixed_window({3, seconds(10)}),
      {
          // looking starts nothing
          {seconds(1), 0, true, 3, seconds(0), passed},
          {seconds(4), 1, true, 2, seconds(10), passed},
          {seconds(13), 2, true, 0, seconds(1), passed},
          {seconds(13), 1, false, 0, seconds(1), seconds(1)},
          {seconds(13), 0, true, 0, seconds(1), passed},
          {microseconds(13'999'999), 1, false, 0, microseconds(1), microseconds(1)},
          // the window is over at its end, and the next waits for a request
          {seconds(14), 0, true, 3, seconds(0), passed},
          {seconds(20), 1, true, 2, seconds(10), passed},
      });
}

TEST_CASE("fixed_window: a cost must fit whole") {
  // Deciding on `used >= quota` before adding would overshoot by cost - 1.
  run<FixedWindowState>(fixed_window({10, seconds(1)}),
                        {
                            {seconds(0), 8, true, 2, seconds(1), passed},
                            {seconds(0), 3, false, 2, seconds(1), seconds(1)},
                            {seconds(0), 2, true, 0, seconds(1), passed},
                            // never, in this window or another
                            {seconds(0), 11, false, 0, seconds(1), never},
                            {seconds(0), huge, false, 0, seconds(1), never},
                        });
}

TEST_CASE("fixed_window: anchored to the clock") {
  run<FixedWindowState>(fixed_window({2, minutes(1)}, Anchor::clock),
                        {
                            {seconds(50), 2, true, 0, seconds(10), passed},
                            {seconds(59), 1, false, 0, seconds(1), seconds(1)},
                            // the boundary burst: twice the quota around the full minute
                            {seconds(60), 2, true, 0, seconds(60), passed},
                            {seconds(61), 1, false, 0, seconds(59), seconds(59)},
                            {seconds(150), 1, true, 1, seconds(30), passed},
                        });
  // A day begins at midnight UTC.
  run<FixedWindowState>(
      fixed_window({5, days(1)}, Anchor::clock),
      {{hours(23), 5, true, 0, hours(1), passed}, {hours(24), 5, true, 0, days(1), passed}});
}

TEST_CASE("fixed_window: rejected requests are free, or count if one asks for it") {
  run<FixedWindowState>(fixed_window({2, seconds(1)}),
                        {
                            {seconds(0), 1, true, 1, seconds(1), passed},
                            {seconds(0), 2, false, 1, seconds(1), seconds(1)},
                            {seconds(0), 1, true, 0, seconds(1), passed},
                        });
  run<FixedWindowState>(fixed_window({2, seconds(1)}, Anchor::first_request, true),
                        {
                            {seconds(0), 1, true, 1, seconds(1), passed},
                            {seconds(0), 2, false, 0, seconds(1), seconds(1)},
                            {seconds(0), 1, false, 0, seconds(1), seconds(1)},
                            // nothing overflows
                            {seconds(0), huge, false, 0, seconds(1), never},
                            {seconds(0), huge, false, 0, seconds(1), never},
                            {seconds(0), 0, true, 0, seconds(1), passed},
                            {seconds(1), 1, true, 1, seconds(1), passed},
                        });
}

TEST_CASE("fixed_window: units that are counted beyond the quota stop at the exact limit") {
  const Policy policy = fixed_window({10, seconds(1)});
  FixedWindowState state;
  charge(policy, state, epoch, 4);
  charge(policy, state, epoch, 100);
  CHECK(state.used == 104);
  for (int repeat = 0; repeat < 2; ++repeat) {
    charge(policy, state, epoch, huge);
    CHECK(state.used == exact_limit);
  }
}

TEST_CASE("fixed_window: overdraft drains the window") {
  const Policy policy = fixed_window({10, seconds(1)});
  FixedWindowState state;
  charge(policy, state, epoch, 4);
  const Admission admission = admit(policy, state, epoch, {.cost = 50, .overdraft = true});
  CHECK(admission.allowed);
  CHECK(admission.units == 6);
}

TEST_CASE("fixed_window: a clock that steps back stays in the window") {
  for (const Anchor anchor : {Anchor::first_request, Anchor::clock}) {
    const Policy policy = fixed_window({2, seconds(10)}, anchor);
    FixedWindowState state;
    charge(policy, state, epoch + seconds(20), 1);
    CHECK(decide(policy, state, epoch + seconds(5), {}).remaining == 0);
    CHECK_FALSE(decide(policy, state, epoch, {}).allowed);
    CHECK(state == FixedWindowState{epoch + seconds(20), 2});
    CHECK(level(policy, state, epoch).reset_after == seconds(30));
    CHECK(decide(policy, state, epoch + seconds(30), {}).allowed);
  }
}

TEST_CASE("fixed_window: around a boundary at most twice the quota") {
  const Policy policy = fixed_window({10, seconds(1)});
  FixedWindowState state;
  charge(policy, state, epoch, 1);
  CHECK(decide(policy, state, epoch + milliseconds(999), {.cost = 9}).allowed);
  CHECK(decide(policy, state, epoch + milliseconds(1000), {.cost = 10}).allowed);
  CHECK_FALSE(decide(policy, state, epoch + milliseconds(1998), {}).allowed);
}

}  // namespace weir::rules::test
