#include "rules/arrival.hpp"

#include "catch.hpp"
#include "sequence.hpp"

namespace weir::rules::test {

namespace {

/// 3/1s: a unit takes 333,333 1/3 us; the burst of 6 takes 2 s.
Policy thirds() {
  return policy_of({.algorithm = Algorithm::gcra, .rates = {{3, seconds(1)}}, .burst = 6});
}

Instant at(std::int64_t us) {
  return instant_from_us(us);
}

}  // namespace

TEST_CASE("arrival: the tolerance is the time that the capacity takes") {
  CHECK(burst_tolerance(thirds()) == Span{2'000'000, 0});
}

TEST_CASE("arrival: a TAT is at most one burst after the latest charge") {
  CHECK(arrival_of(thirds(), GcraState{.tat_us = 2'500'000, .fraction = 1, .at = at(1'000'000)}) ==
        Span{2'500'000, 1});
  CHECK(arrival_of(thirds(), GcraState{.tat_us = 3'000'000, .fraction = 1, .at = at(1'000'000)}) ==
        Span{3'000'000, 0});
  // a fraction from a rate with a larger count
  CHECK(arrival_of(thirds(), GcraState{.tat_us = 2'500'000, .fraction = 7, .at = at(1'000'000)}) ==
        Span{2'500'000, 2});
}

TEST_CASE("arrival: a TAT in the past is not ahead") {
  const GcraState state{.tat_us = 1'500'000, .fraction = 2, .at = at(1'000'000)};
  CHECK(ahead_of(thirds(), state, at(1'400'000)) == Span{100'000, 2});
  CHECK(ahead_of(thirds(), state, at(1'500'000)) == Span{0, 2});
  CHECK(ahead_of(thirds(), state, at(1'500'001)) == Span{});
}

TEST_CASE("arrival: the wait is rounded up to a microsecond") {
  CHECK(wait_until(thirds(), {500'000, 0}, {200'000, 0}) == Duration{300'000});
  CHECK(wait_until(thirds(), {500'000, 1}, {200'000, 0}) == Duration{300'001});
  CHECK(wait_until(thirds(), {500'000, 0}, {200'000, 1}) == Duration{300'000});
  CHECK(wait_until(thirds(), {100'000, 0}, {200'000, 0}) == Duration{-100'000});
}

TEST_CASE("arrival: the units that are left fit below the tolerance") {
  CHECK(units_left(thirds(), {}) == 6);
  CHECK(units_left(thirds(), {333'333, 1}) == 5);
  CHECK(units_left(thirds(), {333'333, 2}) == 4);
  CHECK(units_left(thirds(), {1'666'666, 2}) == 1);
  CHECK(units_left(thirds(), {1'666'667, 0}) == 0);
  CHECK(units_left(thirds(), {2'000'000, 0}) == 0);
  CHECK(units_left(thirds(), {9'000'000, 0}) == 0);
}

TEST_CASE("arrival: a charge moves the TAT, up to the tolerance and never back") {
  GcraState state;
  advance(thirds(), state, at(1'000'000), 2);
  CHECK(state == GcraState{.tat_us = 1'666'666, .fraction = 2, .at = at(1'000'000)});
  advance(thirds(), state, at(1'100'000), 0);
  advance(thirds(), state, at(1'100'000), -1);
  CHECK(state == GcraState{.tat_us = 1'666'666, .fraction = 2, .at = at(1'000'000)});
  advance(thirds(), state, at(1'100'000), 1);
  CHECK(state == GcraState{.tat_us = 2'000'000, .fraction = 0, .at = at(1'100'000)});
  advance(thirds(), state, at(1'200'000), huge);
  CHECK(state == GcraState{.tat_us = 3'200'000, .fraction = 0, .at = at(1'200'000)});
  // an earlier instant, seen from which the TAT is more than the tolerance ahead
  advance(thirds(), state, at(1'000'000), 1);
  CHECK(state == GcraState{.tat_us = 3'200'000, .fraction = 0, .at = at(1'200'000)});
}

TEST_CASE("arrival: a state is whole at its TAT, rounded up") {
  CHECK(whole_of(thirds(), GcraState{.tat_us = 1'666'666, .fraction = 2, .at = at(1'000'000)}) ==
        at(1'666'667));
  CHECK(whole_of(thirds(), GcraState{.tat_us = 2'000'000, .at = at(1'000'000)}) == at(2'000'000));
}

}  // namespace weir::rules::test
