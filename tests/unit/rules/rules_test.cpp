#include "rules/rules.hpp"

#include <type_traits>

#include "catch.hpp"
#include "sequence.hpp"

namespace weir::rules::test {

namespace {

/// Whether an algorithm has this state.
template <class Expected>
bool has_state(Algorithm algorithm) {
  return with_state_of(algorithm,
                       []<class State>(State) { return std::is_same_v<State, Expected>; });
}

Policy counting(bool count_rejected) {
  return policy_of({.algorithm = Algorithm::fixed_window,
                    .rates = {{5, seconds(10)}},
                    .count_rejected = count_rejected});
}

}  // namespace

TEST_CASE("rules: every algorithm has its state, and a fresh one is whole") {
  CHECK(has_state<FixedWindowState>(Algorithm::fixed_window));
  CHECK(has_state<AttributedWindowState>(Algorithm::attributed_window));
  CHECK(has_state<SlidingWindowState>(Algorithm::sliding_window));
  CHECK(has_state<SlidingLogState>(Algorithm::sliding_log));
  CHECK(has_state<TokenBucketState>(Algorithm::token_bucket));
  CHECK(has_state<LeakyBucketState>(Algorithm::leaky_bucket));
  CHECK(has_state<GcraState>(Algorithm::gcra));
  CHECK(has_state<ConcurrencyState>(Algorithm::concurrency));
}

TEST_CASE("rules: a decision has the admission from before the charge and the level after it") {
  const Policy policy = counting(false);
  const FixedWindowState state{.start = epoch, .used = 3};
  const Decision decision =
      decision_of(policy, state, epoch + seconds(4),
                  {.allowed = true, .delay = seconds(1), .retry_after = seconds(2)});
  CHECK(decision == Decision{.allowed = true,
                             .limit = 5,
                             .remaining = 2,
                             .reset_after = seconds(6),
                             .more_after = seconds(6),
                             .delay = seconds(1),
                             .retry_after = seconds(2)});
}

TEST_CASE("rules: a denied demand is charged only with count_rejected") {
  for (const bool count_rejected : {false, true}) {
    CAPTURE(count_rejected);
    const Policy policy = counting(count_rejected);
    FixedWindowState state;
    CHECK(decide(policy, state, epoch, {.cost = 3}).allowed);
    const Decision denied = decide(policy, state, epoch, {.cost = 4});
    CHECK_FALSE(denied.allowed);
    CHECK(denied.remaining == (count_rejected ? 0 : 2));
    CHECK(denied.retry_after == seconds(10));
  }
}

TEST_CASE("rules: a demand that is admitted in overdraft is charged what is left") {
  const Policy policy = counting(false);
  FixedWindowState state;
  CHECK(decide(policy, state, epoch, {.cost = 3}).remaining == 2);
  const Decision overdraft = decide(policy, state, epoch, {.cost = 4, .overdraft = true});
  CHECK(overdraft.allowed);
  CHECK(overdraft.remaining == 0);
  CHECK(state.used == 5);
}

}  // namespace weir::rules::test
