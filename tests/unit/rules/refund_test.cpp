// Tables of refunds for each algorithm: charges, refunds, and what is left. The random histories
// are in properties_test.cpp and holds_model_test.cpp.
#include "catch.hpp"
#include "rules/holds.hpp"
#include "sequence.hpp"

namespace weir::rules::test {

namespace {

/// Charges `units`, or refunds -units; then `left` units pass and all of them do after `whole`.
struct RefundRow {
  Duration now;
  std::int64_t units;
  std::int64_t left;
  Duration whole;
};

template <class State>
State run(const Policy& policy, const std::vector<RefundRow>& rows, State state = {}) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RefundRow& row = rows[i];
    INFO("row " << i);
    const Instant now = epoch + row.now;
    if (row.units > 0) charge(policy, state, now, row.units);
    if (row.units <= 0) refund(policy, state, now, -row.units);
    const Level after = level(policy, state, now);
    CHECK(after.remaining == row.left);
    CHECK(to_us(after.reset_after) == to_us(row.whole));
  }
  return state;
}

Policy limit_of(Algorithm algorithm, std::int64_t count, Duration per) {
  return policy_of({.algorithm = algorithm, .rates = {{count, per}}});
}

constexpr Algorithm charging_algorithms[] = {
    Algorithm::fixed_window, Algorithm::attributed_window, Algorithm::sliding_window,
    Algorithm::sliding_log,  Algorithm::token_bucket,      Algorithm::gcra,
    Algorithm::leaky_bucket};

}  // namespace

TEST_CASE("refund: a fixed window keeps its start, and one without use has ended") {
  const Policy policy = limit_of(Algorithm::fixed_window, 10, seconds(10));
  run<FixedWindowState>(policy, {{seconds(0), 6, 4, seconds(10)},
                                 {seconds(4), -2, 6, seconds(6)},
                                 {seconds(5), -99, 10, seconds(0)},
                                 // Nothing to give back: not from the next charge either.
                                 {seconds(6), -3, 10, seconds(0)},
                                 {seconds(7), 4, 6, seconds(10)},
                                 // The window of the charge has ended.
                                 {seconds(17), -2, 10, seconds(0)},
                                 {seconds(17), 10, 0, seconds(10)}});
}

TEST_CASE("refund: a fixed window gives back units of denied requests, too") {
  const Policy policy = policy_of(
      {.algorithm = Algorithm::fixed_window, .rates = {{10, seconds(10)}}, .count_rejected = true});
  run<FixedWindowState>(policy, {{seconds(0), 10, 0, seconds(10)},
                                 {seconds(0), 5, 0, seconds(10)},
                                 {seconds(1), -5, 0, seconds(9)},
                                 {seconds(1), -5, 5, seconds(9)}});
}

TEST_CASE("refund: an attributed window takes from the newest entries") {
  const Policy policy = limit_of(Algorithm::attributed_window, 10, seconds(10));
  const auto state = run<AttributedWindowState>(policy, {{seconds(0), 3, 7, seconds(10)},
                                                         {seconds(1), 4, 3, seconds(9)},
                                                         {seconds(2), 2, 1, seconds(8)},
                                                         {seconds(3), -3, 4, seconds(7)}});
  REQUIRE(state.entries.size() == 2);
  CHECK(state.entries[0].units == 3);
  CHECK(state.entries[1].units == 3);
  CHECK(state.entries[1].at == epoch + seconds(1));
  const auto empty = run(policy, {{seconds(4), -7, 10, seconds(0)}}, state);
  CHECK(empty.entries.empty());
}

TEST_CASE("refund: a sliding window takes from the newest sub-windows of each tier") {
  const Policy policy = policy_of(
      {.algorithm = Algorithm::sliding_window, .rates = {{10, seconds(10)}, {20, seconds(100)}}});
  const auto state = run<SlidingWindowState>(policy, {{seconds(0), 10, 0, seconds(110)},
                                                      {seconds(12), 6, 4, seconds(108)},
                                                      {seconds(13), 2, 2, seconds(107)},
                                                      {seconds(13), -5, 7, seconds(107)}});
  // The short tier has 3 units, the long one 13.
  CHECK(run(policy, {{seconds(13), -4, 10, seconds(97)}}, state).tiers[1].used[1] == 9);
  CHECK(run(policy, {{seconds(13), -99, 10, seconds(0)}}, state).tiers[1].used[1] == 0);
}

TEST_CASE("refund: the oldest sub-window gives back what counts of it") {
  const Policy policy = limit_of(Algorithm::sliding_window, 100, seconds(10));
  // 8 units, of which a half has left: 4 count. They leave as 6 units do, of which 3 count.
  run<SlidingWindowState>(policy, {{seconds(0), 8, 92, seconds(11)},
                                   {milliseconds(10'500), 0, 96, milliseconds(500)},
                                   {milliseconds(10'500), -1, 97, milliseconds(500)},
                                   {milliseconds(10'500), -5, 100, seconds(0)}});
  // More than a tenth of the quota would stay, so a unit of the refund takes one of the content:
  // otherwise the burst of 50 could be followed by 100 units within a window.
  const auto state =
      run<SlidingWindowState>(policy, {{seconds(0), 50, 50, seconds(11)},
                                       {milliseconds(10'100), 0, 55, milliseconds(900)},
                                       {milliseconds(10'100), -30, 82, milliseconds(900)}});
  CHECK(state.tiers[0].used.back() == 20);
}

TEST_CASE("refund: a sliding log takes from the newest entries") {
  const Policy policy = limit_of(Algorithm::sliding_log, 10, seconds(10));
  run<SlidingLogState>(policy, {{seconds(0), 4, 6, seconds(10)},
                                {seconds(3), 3, 3, seconds(10)},
                                {seconds(5), 2, 1, seconds(10)},
                                {seconds(6), -3, 4, seconds(7)},
                                {seconds(6), -3, 7, seconds(4)},
                                {seconds(10), -3, 10, seconds(0)},
                                {seconds(10), 5, 5, seconds(10)},
                                {seconds(11), -99, 10, seconds(0)}});
}

TEST_CASE("refund: entries of a log that did not count do not count again") {
  const Policy policy = policy_of(
      {.algorithm = Algorithm::sliding_log, .rates = {{10, seconds(10)}}, .count_rejected = true});
  run<SlidingLogState>(policy, {{seconds(0), 8, 2, seconds(10)},
                                {seconds(1), 8, 0, seconds(10)},
                                {seconds(1), -1, 1, seconds(10)},
                                {seconds(1), -7, 8, seconds(9)},
                                {seconds(1), -99, 10, seconds(0)}});
}

TEST_CASE("refund: a bucket carries its fractions exactly, and is never more than full") {
  const Policy bucket =
      policy_of({.algorithm = Algorithm::token_bucket, .rates = {{3, seconds(1)}}, .burst = 5});
  const std::vector<RefundRow> rows = {{seconds(0), 5, 0, microseconds(1'666'667)},
                                       {milliseconds(500), -1, 2, microseconds(833'334)},
                                       {milliseconds(500), -2, 4, microseconds(166'667)},
                                       {milliseconds(500), -1, 5, seconds(0)},
                                       {milliseconds(500), 5, 0, microseconds(1'666'667)},
                                       {milliseconds(600), -99, 5, seconds(0)},
                                       {seconds(9), -1, 5, seconds(0)},
                                       {seconds(9), 1, 4, microseconds(333'334)}};
  run<TokenBucketState>(bucket, rows);
  const Policy gcra =
      policy_of({.algorithm = Algorithm::gcra, .rates = {{3, seconds(1)}}, .burst = 5});
  run<GcraState>(gcra, rows);
}

TEST_CASE("refund: the next demand of a leaky bucket waits for fewer turns") {
  const Policy policy =
      policy_of({.algorithm = Algorithm::leaky_bucket, .rates = {{2, seconds(1)}}, .queue = 5});
  const auto state = run<LeakyBucketState>(
      policy, {{seconds(0), 4, 2, seconds(2)}, {milliseconds(250), -2, 4, milliseconds(750)}});
  const Admission next = admit(policy, state, epoch + milliseconds(250), {.cost = 1});
  CHECK(next.delay == milliseconds(750));
  run(policy, {{milliseconds(250), -2, 6, seconds(0)}}, state);
}

TEST_CASE("refund: concurrency has nothing to give back") {
  const Policy policy = policy_of({.algorithm = Algorithm::concurrency, .limit = 3});
  ConcurrencyState state;
  Holds holds;
  hold(holds, 2);
  settle(policy, state, holds, epoch, 0, -2);
  CHECK(holds.held == 2);
}

TEST_CASE("refund: a fresh state and one that is whole stay as they are") {
  for (const Algorithm algorithm : charging_algorithms) {
    CAPTURE(to_string(algorithm));
    const Policy policy = limit_of(algorithm, 5, seconds(10));
    with_state_of(algorithm, [&]<class State>(const State& fresh) {
      State state = fresh;
      refund(policy, state, epoch, 3);
      CHECK(state == fresh);
      charge(policy, state, epoch, 1);
      const State whole = state;
      refund(policy, state, whole_at(policy, state), 3);
      CHECK(state == whole);
      refund(policy, state, epoch, 0);
      refund(policy, state, epoch, -3);
      CHECK(state == whole);
    });
  }
}

TEST_CASE("refund: reduces a debt first, and leaves held units held") {
  for (const Algorithm algorithm : charging_algorithms) {
    CAPTURE(to_string(algorithm));
    Definition definition{.algorithm = algorithm, .rates = {{10, seconds(10)}}};
    if (algorithm == Algorithm::leaky_bucket) {
      definition.queue = 9;
      definition.max_delay = seconds(10);
    }
    const Policy policy = policy_of(definition);
    with_state_of(algorithm, [&]<class State>(State state) {
      Holds holds;
      hold(holds, 4);
      hold(holds, 2);
      settle(policy, state, holds, epoch, 4, 11);  // 8 have room
      CHECK(holds.debt == 3);
      settle(policy, state, holds, epoch, 0, -2);
      CHECK(holds.debt == 1);
      CHECK(room_in(policy, state, epoch) == 2);
      settle(policy, state, holds, epoch, 0, -3);
      CHECK(holds == Holds{.held = 2});
      CHECK(room_in(policy, state, epoch) == 4);
      // A settlement can release a hold and refund together.
      settle(policy, state, holds, epoch, 2, -std::numeric_limits<std::int64_t>::max() - 1);
      CHECK(holds == Holds{});
      CHECK(room_in(policy, state, epoch) == 10);
    });
  }
}

}  // namespace weir::rules::test
