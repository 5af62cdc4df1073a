// Deciding allocates nothing in the steady state.
#include "catch.hpp"
#include "contract/hold_contract.hpp"
#include "unit/http/allocations.hpp"
#include "unit/store/chain_fixture.hpp"
#include "unit/store/memory_store_under_test.hpp"

namespace weir::store::test {

TEST_CASE("Deciding about a known key through the interface allocates nothing") {
  MemoryStore memory({.max_keys = 100, .seed = 1});
  Store& store = memory;
  Received received;
  const auto limit = policy(rules::Algorithm::gcra, 100, 60s);
  const std::vector claims{claim(limit, 1), claim(limit, 2)};
  std::vector<rules::Decision> decisions(2);
  Acquisition acquisition{.claims = claims, .decisions = decisions, .arrived_at = epoch};
  store.acquire(acquisition, received, epoch);
  std::size_t admitted = 0;
  CHECK(allocations_in([&] {
          for (int i = 0; i < 50; ++i) {
            admitted += store.acquire(acquisition, received, epoch)->admitted ? 1U : 0U;
            store.peek(acquisition, received, epoch);
            store.settle({}, epoch);
          }
        }) == 0);
  CHECK(admitted == 50);
}

TEST_CASE("The chain allocates nothing once its places have been used") {
  ChainFixture fixture;
  const auto limit = gcra(1'000);
  Request request({fixture.shared(limit)});
  fixture.remote.at_once = true;
  fixture.serve(request);
  Request later({fixture.shared(limit)});
  fixture.remote.at_once = false;
  fixture.serve(later);
  const auto serve = [&] {
    later.come(fixture.front(), 0s);
    const auto asked = fixture.remote.pending.front();
    fixture.remote.pending.clear();
    asked.completion->complete({.admitted = true, .decider = Decider::redis, .decided = 1}, epoch);
  };
  serve();
  CHECK(allocations_in([&] {
          for (int i = 0; i < 50; ++i)
            serve();
        }) == 0);
  CHECK(later.admitted());
}

TEST_CASE("Holding and settling on a known key allocates nothing") {
  for (const auto algorithm : {rules::Algorithm::concurrency, rules::Algorithm::gcra}) {
    CAPTURE(to_string(algorithm));
    MemoryStoreUnderTest store(100);
    const auto limit = policy(algorithm, 10'000, 60s);
    const std::vector claims{holding(limit, 1)};
    std::vector<rules::Decision> decisions(1);
    const Settlement end = settlement_of(claims[0], 1, 1);
    std::size_t admitted = 0;
    const auto serve = [&] {
      admitted += store.memory.decide(claims, epoch, decisions) ? 1U : 0U;
      store.memory.settle({&end, 1}, epoch);
    };
    serve();
    CHECK(allocations_in([&] {
            for (int i = 0; i < 50; ++i)
              serve();
          }) == 0);
    CHECK(admitted == 51);
  }
}

}  // namespace weir::store::test
