#include "rules/gcra.hpp"

#include "catch.hpp"
#include "sequence.hpp"

namespace weir::rules::test {

namespace {

Policy gcra(Rate rate, std::int64_t burst) {
  return policy_of({.algorithm = Algorithm::gcra, .rates = {rate}, .burst = burst});
}

}  // namespace

// The published sequence of throttled, rate_test.go TestRateLimit: 1/s, burst 5.
TEST_CASE("gcra: throttled's table") {
  run<GcraState>(gcra({1, seconds(1)}, 5),
                 {
                     // more than the capacity never passes, and the state stays fresh
                     {seconds(0), 6, false, 5, seconds(0), never},
                     // the burst, then a denial with its retry_after
                     {seconds(0), 1, true, 4, seconds(1), passed},
                     {seconds(0), 1, true, 3, seconds(2), passed},
                     {seconds(0), 1, true, 2, seconds(3), passed},
                     {seconds(0), 1, true, 1, seconds(4), passed},
                     {seconds(0), 1, true, 0, seconds(5), passed},
                     {seconds(0), 1, false, 0, seconds(5), seconds(1)},
                     // refills continuously
                     {milliseconds(3000), 1, true, 2, milliseconds(3000), passed},
                     {milliseconds(3100), 1, true, 1, milliseconds(3900), passed},
                     {milliseconds(4000), 1, true, 1, milliseconds(4000), passed},
                     {milliseconds(8000), 1, true, 4, milliseconds(1000), passed},
                     {milliseconds(9500), 1, true, 4, milliseconds(1000), passed},
                     // cost 0 looks
                     {milliseconds(9500), 0, true, 4, seconds(1), passed},
                     // a larger cost takes more; one that does not fit takes nothing
                     {milliseconds(9500), 2, true, 2, seconds(3), passed},
                     {milliseconds(9500), 5, false, 2, seconds(3), seconds(3)},
                 });
}

TEST_CASE("gcra: the capacity itself is a cost that passes, and its denial has an end") {
  // redis/redis#14826 took "never" for "now" here; throttled#81 showed more remaining than the
  // limit.
  run<GcraState>(gcra({10, seconds(1)}, 10),
                 {
                     {seconds(0), 10, true, 0, seconds(1), passed},
                     {seconds(0), 10, false, 0, seconds(1), seconds(1)},
                     {microseconds(999'999), 10, false, 9, microseconds(1), microseconds(1)},
                     {seconds(0), 11, false, 0, seconds(1), never},
                     {seconds(0), huge, false, 0, seconds(1), never},
                     {seconds(1), huge, false, 10, seconds(0), never},
                     {seconds(1), 10, true, 0, seconds(1), passed},
                 });
}

TEST_CASE("gcra: an interval that is no whole number of microseconds") {
  // 3/s: 333333 1/3 us. Rounded up where it is shown, never where it is kept.
  run<GcraState>(gcra({3, seconds(1)}, 1),
                 {
                     {microseconds(0), 1, true, 0, microseconds(333'334), passed},
                     {microseconds(333'333), 1, false, 0, microseconds(1), microseconds(1)},
                     {microseconds(333'334), 1, true, 0, microseconds(333'334), passed},
                     {microseconds(666'668), 1, true, 0, microseconds(333'334), passed},
                 });
  GcraState state;
  const Policy policy = gcra({3, seconds(1)}, 3);
  charge(policy, state, epoch, 1);
  CHECK(state == GcraState{to_us(epoch) + 333'333, 1, epoch});
  charge(policy, state, epoch, 2);
  CHECK(state == GcraState{to_us(epoch) + 1'000'000, 0, epoch});
}

TEST_CASE("gcra: overdraft takes what is left and passes whatever it costs") {
  const Policy policy = gcra({1, seconds(1)}, 5);
  GcraState state;
  charge(policy, state, epoch, 2);
  const Admission admission = admit(policy, state, epoch, {.cost = huge, .overdraft = true});
  CHECK(admission.allowed);
  CHECK(admission.units == 3);
  charge(policy, state, epoch, admission.units);
  CHECK(level(policy, state, epoch).remaining == 0);
  CHECK(admit(policy, state, epoch, {.cost = 1, .overdraft = true}).units == 0);
}

TEST_CASE("gcra: charging is bounded by the capacity, whatever is asked") {
  const Policy policy = gcra({1, seconds(1)}, 5);
  GcraState state;
  charge(policy, state, epoch, huge);
  charge(policy, state, epoch, huge);
  CHECK(level(policy, state, epoch).reset_after == seconds(5));
  charge(policy, state, epoch, -huge);
  CHECK(level(policy, state, epoch).remaining == 0);
  CHECK(admit(policy, state, epoch, {.cost = -1}).units == 0);
}

TEST_CASE("gcra: a clock that steps back grants nothing") {
  const Policy policy = gcra({1, seconds(1)}, 5);
  GcraState state;
  charge(policy, state, epoch, 5);
  const GcraState before = state;
  CHECK_FALSE(decide(policy, state, epoch - hours(1), {}).allowed);
  CHECK(decide(policy, state, epoch - hours(1), {.cost = 2, .overdraft = true}).remaining == 0);
  CHECK(state == before);
  CHECK(decide(policy, state, epoch, {}).retry_after == seconds(1));
  // not even a charge beyond the tolerance moves the TAT back
  charge(policy, state, epoch - hours(1), 1);
  CHECK(state == before);
}

TEST_CASE("gcra: under a raised rate at most one burst of it has to be waited for") {
  GcraState state;
  charge(gcra({100, days(1)}, 100), state, epoch, 100);
  const Policy raised = gcra({1000, seconds(1)}, 1000);
  CHECK(whole_at(raised, state) == epoch + seconds(1));
  run<GcraState>(raised,
                 {
                     // counted from the charge, so that asking again puts off nothing
                     {microseconds(0), 1, false, 0, seconds(1), milliseconds(1)},
                     {microseconds(999), 1, false, 0, microseconds(999'001), microseconds(1)},
                     {milliseconds(1), 1, true, 0, seconds(1), passed},
                     {milliseconds(501), 501, false, 500, milliseconds(500), milliseconds(1)},
                     {milliseconds(1001), 1000, true, 0, seconds(1), passed},
                 },
                 state);
  // a later request has waited already
  run<GcraState>(raised, {{seconds(1), 1000, true, 0, seconds(1), passed}}, state);
  // a clock that steps back has it wait longer, and grants nothing
  run<GcraState>(
      raised, {{-hours(1), 1, false, 0, hours(1) + seconds(1), hours(1) + milliseconds(1)}}, state);
  // 333333 1/3 us
  run<GcraState>(gcra({3, seconds(1)}, 1),
                 {
                     {microseconds(0), 1, false, 0, microseconds(333'334), microseconds(333'334)},
                     {microseconds(333'333), 1, false, 0, microseconds(1), microseconds(1)},
                     {microseconds(333'334), 1, true, 0, microseconds(333'334), passed},
                 },
                 state);
  // the old rate still has all of its wait
  CHECK(level(gcra({100, days(1)}, 100), state, epoch).reset_after == days(1));
}

TEST_CASE("gcra: rates of a month and of a microsecond") {
  run<GcraState>(gcra({1, days(31)}, 1), {
                                             {seconds(0), 1, true, 0, days(31), passed},
                                             {days(30), 1, false, 0, days(1), days(1)},
                                             {days(31), 1, true, 0, days(31), passed},
                                         });
  // redis-cell#13 and #80: coarse intervals failed above 1000/s.
  run<GcraState>(gcra({1'000'000, seconds(1)}, 1),
                 {
                     {microseconds(0), 1, true, 0, microseconds(1), passed},
                     {microseconds(0), 1, false, 0, microseconds(1), microseconds(1)},
                     {microseconds(1), 1, true, 0, microseconds(1), passed},
                 });
  run<GcraState>(gcra({130, seconds(1)}, 100),
                 {
                     {microseconds(0), 100, true, 0, microseconds(769'231), passed},
                     {microseconds(7'692), 1, false, 0, microseconds(761'539), microseconds(1)},
                     {microseconds(7'693), 1, true, 0, microseconds(769'231), passed},
                 });
}

}  // namespace weir::rules::test
