// The memory store through store::Store: results at once, settlements that name no hold.
#include "catch.hpp"
#include "unit/store/memory_store_under_test.hpp"

namespace weir::store::test {

TEST_CASE("The memory store returns its results at once") {
  MemoryStore memory({.max_keys = 100, .seed = 1});
  Store& store = memory;
  Received received;
  const auto limit = policy(rules::Algorithm::gcra, 1, 60s);
  const std::vector claims{claim(limit, 1), claim(limit, 2)};
  std::vector<rules::Decision> decisions(2);
  Acquisition acquisition{.claims = claims, .decisions = decisions, .arrived_at = epoch};
  const auto admitted = store.acquire(acquisition, received, epoch);
  CHECK(admitted == Result{.admitted = true, .decider = Decider::memory, .decided = 3});
  CHECK_FALSE(acquisition.asked_at.has_value());
  const auto denied = store.acquire(acquisition, received, epoch);
  CHECK(denied == Result{.admitted = false, .decider = Decider::memory, .decided = 3});
  CHECK(store.peek(acquisition, received, epoch)->decided == 3);
  CHECK(memory.keys() == 2);
  const auto forgotten = store.forget({.identity = claims[0].identity}, received, epoch);
  CHECK(forgotten->error == Error::none);
  CHECK(memory.keys() == 1);
  CHECK(received.times == 0);
}

TEST_CASE("A settlement of a hold that the memory store does not have is charged to a fresh key") {
  MemoryStore memory({.max_keys = 100, .seed = 1});
  Store& store = memory;
  const auto limit = policy(rules::Algorithm::gcra, 3, 60s);
  store.settle({}, epoch);
  CHECK(memory.settlements_lost() == 0);
  const std::vector<Settlement> settlements(
      2, {.policy = &limit, .key = {.identity = {.low = 1, .high = 1}}, .held = 1, .actual = 1});
  store.settle(settlements, epoch);
  CHECK(memory.settlements_lost() == 0);
  CHECK(memory.keys() == 1);
}

}  // namespace weir::store::test
