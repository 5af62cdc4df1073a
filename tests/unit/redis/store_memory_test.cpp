// Requests for which there is no memory: each is completed once, or its call throws and sends
// nothing.
#include <new>

#include "catch.hpp"
#include "store_fixture.hpp"
#include "unit/http/allocations.hpp"

using namespace weir;
using namespace weir::redis;
using namespace weir::redis::test;

TEST_CASE("without memory a request that finds no connection is completed once") {
  RedisProcess redis;
  StoreFixture fixture(redis);
  REQUIRE(fixture.outcome() == store::Error::not_connected);  // its place is used again
  Asked first(fixture.gcra, 1, 1);
  without_memory([&] { fixture.send(first); });
  CHECK(first.times == 0);
  Asked second(fixture.gcra, 1, 1);
  fixture.send(second);
  REQUIRE(fixture.run_until([&] { return second.times > 0; }));
  CHECK(first.times == 1);
  CHECK(first.error == store::Error::not_connected);
  CHECK(second.times == 1);
  CHECK(fixture.outcome() == store::Error::not_connected);
}

TEST_CASE("without memory a request is sent and decided in the place of an earlier one") {
  RedisProcess redis;
  StoreFixture fixture(redis);
  REQUIRE(fixture.start());
  REQUIRE(fixture.outcome() == store::Error::none);
  Asked asked(fixture.gcra, 1, 1);
  without_memory([&] { fixture.send(asked); });
  REQUIRE(fixture.run_until([&] { return asked.times > 0; }));
  CHECK(asked.times == 1);
  CHECK(asked.error == store::Error::none);
  CHECK(asked.decision.remaining == 998);
  CHECK(fixture.outcome() == store::Error::none);
}

TEST_CASE("a request too long for the memory throws, and the next one is decided") {
  RedisProcess redis;
  StoreFixture fixture(redis);
  REQUIRE(fixture.start());
  REQUIRE(fixture.outcome() == store::Error::none);
  Asked large(fixture.gcra, 1, 1);
  const std::vector<store::Claim> claims(store::claims_per_request, large.claim);
  std::vector<rules::Decision> decisions(claims.size());
  large.acquisition = {.claims = claims, .decisions = decisions};
  bool is_thrown = false;
  without_memory([&] {
    try {
      fixture.send(large);
    } catch (const std::bad_alloc&) {
      is_thrown = true;
    }
  });
  CHECK(is_thrown);
  // It has left its place, and the buffer of the command.
  Asked next(fixture.gcra, 1, 1);
  without_memory([&] { fixture.send(next); });
  REQUIRE(fixture.run_until([&] { return next.times > 0; }));
  CHECK(next.error == store::Error::none);
  CHECK(next.decision.remaining == 998);
  CHECK(large.times == 0);
  fixture.send(large);
  REQUIRE(fixture.run_until([&] { return large.times > 0; }));
  CHECK(large.times == 1);
  CHECK(large.error == store::Error::none);
}
