// The exact arithmetic at the edges of what compile() lets through.
#include "rules/span.hpp"

#include "catch.hpp"
#include "model.hpp"
#include "random_policy.hpp"
#include "seed.hpp"

namespace weir::rules::test {

namespace {

/// The largest capacity that compile() accepts for this rate.
std::int64_t largest_burst(const Rate& rate) {
  std::int64_t low = 1;
  std::int64_t high = std::int64_t{1} << 53;
  while (low < high) {
    const std::int64_t middle = low + (high - low + 1) / 2;
    const bool fits =
        compile({.algorithm = Algorithm::gcra, .rates = {rate}, .burst = middle}).has_value();
    (fits ? low : high) = fits ? middle : middle - 1;
  }
  return low;
}

/// The rule's own steps in wide numbers: the largest of what it computes on the way.
Wide largest_intermediate(const Policy& policy, std::int64_t us, std::int64_t carry) {
  const Wide count = policy.rates[0].count;
  const Wide a = policy.interval_us == 0 ? 0 : us / policy.interval_us;
  const Wide b = us - a * policy.interval_us;
  return std::max({b * count + carry, a * policy.interval_remainder,
                   Wide{policy.capacity} * policy.interval_us,
                   Wide{policy.capacity} * policy.interval_remainder});
}

Rate extreme_rate(Random& random) {
  const std::int64_t count =
      random.one_in(2) ? random.between(1, 100)
                       : random.any_of({6'999, 999'983, 1'000'000, 67'108'859, 1'000'000'007});
  const std::int64_t per =
      random.any_of({1, 7, 1'000, 1'000'000, 86'400'000'000, 2'678'400'000'000});
  return {count, Duration{per + (random.one_in(2) ? 0 : random.between(0, per))}};
}

}  // namespace

TEST_CASE("span: up to the limit and the next number, a double skips no whole number") {
  CHECK(exact_limit == 9'007'199'254'740'991);
  CHECK(static_cast<double>(exact_limit) < static_cast<double>(exact_limit + 1));
  CHECK(static_cast<double>(exact_limit + 1) == static_cast<double>(exact_limit + 2));
}

TEST_CASE("span: quotients are rounded down and up, on both sides of zero") {
  struct Quotients {
    std::int64_t dividend, floor, ceil;
  };
  for (const Quotients& row : {Quotients{7, 2, 3},
                               {6, 2, 2},
                               {1, 0, 1},
                               {0, 0, 0},
                               {-1, -1, 0},
                               {-6, -2, -2},
                               {-7, -3, -2}}) {
    CAPTURE(row.dividend);
    CHECK(floor_div(row.dividend, 3) == row.floor);
    CHECK(ceil_div(row.dividend, 3) == row.ceil);
  }
}

TEST_CASE("span: fractions are carried and borrowed") {
  CHECK(add({5, 1}, {6, 1}, 3) == Span{11, 2});
  CHECK(add({5, 1}, {6, 2}, 3) == Span{12, 0});
  CHECK(subtract({6, 2}, {5, 2}, 3) == Span{1, 0});
  CHECK(subtract({6, 1}, {5, 2}, 3) == Span{0, 2});
  CHECK(ceil_us({5, 0}) == Duration{5});
  CHECK(ceil_us({5, 1}) == Duration{6});
}

TEST_CASE("span: units and times are exact, and no step on the way reaches 2^53") {
  const TestSeed seed;
  Random random(seed);
  for (int i = 0; i < 2000; ++i) {
    const Rate rate = extreme_rate(random);
    INFO(rate.count << "/" << to_us(rate.per) << "us");
    const Policy policy = policy_of({.rates = {rate}, .burst = largest_burst(rate)});
    const Wide count = rate.count;
    const Wide per = to_us(rate.per);

    const std::int64_t units =
        random.one_in(4) ? policy.capacity : random.between(0, policy.capacity);
    const Span span = span_of(policy, units);
    REQUIRE(span.fraction >= 0);
    REQUIRE(span.fraction < rate.count);
    REQUIRE(bool(span.us * count + span.fraction == units * per));

    const std::int64_t longest = span_of(policy, policy.capacity).us;
    const std::int64_t us = random.one_in(4) ? longest : random.between(0, longest);
    const std::int64_t carry = random.between(0, std::min(to_us(rate.per), rate.count) - 1);
    const Quotient emitted = units_in(policy, us, carry);
    REQUIRE(bool(emitted.whole == (us * count + carry) / per));
    REQUIRE(bool(emitted.remainder == (us * count + carry) % per));
    REQUIRE(bool(largest_intermediate(policy, us, carry) <= Wide{exact_limit}));
  }
}

TEST_CASE("span: the largest states stay below 2^53 until the year 2100") {
  const Instant year_2100 = instant_from_us(4'102'444'800'000'000);
  for (const Rate& rate : {Rate{1, days(31)}, Rate{7, days(31)}, Rate{1'000'000, seconds(1)}}) {
    const Policy policy = policy_of({.rates = {rate}, .burst = largest_burst(rate)});
    GcraState state;
    charge(policy, state, year_2100, huge);
    charge(policy, state, year_2100, huge);
    CHECK(state.tat_us + span_of(policy, policy.capacity).us <= exact_limit);
    CHECK(level(policy, state, year_2100).remaining == 0);
    CHECK(level(policy, state, whole_at(policy, state)).remaining == policy.capacity);
  }
}

TEST_CASE("span: a proportion of a sub-window is exact at the largest count and window") {
  const std::int64_t count = std::int64_t{1} << 26;
  const Policy policy =
      policy_of({.algorithm = Algorithm::sliding_window, .rates = {{count, days(310)}}});
  SlidingWindowState state;
  const Instant start = instant_from_us(to_us(days(31)) * 600);
  charge(policy, state, start, count / 20);
  const Instant oldest = start + days(310);
  for (const Duration inside : {Duration{1}, Duration(days(7)), Duration(days(31)) - Duration{1}}) {
    const Wide gone = Wide{count / 20} * to_us(inside) / to_us(days(31));
    CHECK(level(policy, state, oldest + inside).remaining ==
          count - count / 20 + static_cast<std::int64_t>(gone));
  }
}

TEST_CASE("span: division rounds down and up, for negative numbers, too") {
  CHECK(floor_div(7, 2) == 3);
  CHECK(floor_div(-7, 2) == -4);
  CHECK(floor_div(-8, 2) == -4);
  CHECK(ceil_div(7, 2) == 4);
  CHECK(ceil_div(-7, 2) == -3);
  CHECK(ceil_div(0, 2) == 0);
}

}  // namespace weir::rules::test
