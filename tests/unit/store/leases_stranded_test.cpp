// Units of a lease that the requests for its key cannot use.
#include "catch.hpp"
#include "unit/store/leases_fixture.hpp"

namespace weir::store {
namespace {

using namespace test;

/// A key with units, and another one that the requests need too and that is exhausted.
struct TwoKeys : LeasesFixture {
  TwoKeys() : LeasesFixture(100) {
    for (int i = 0; i < 20; ++i) {
      Request request(both());
      serve(request);
      settle_all();
      if (request.denied()) return;
    }
    FAIL("the second key is not exhausted");
  }
  std::vector<Claim> both() {
    Claim few = leased(1, 1, 1);
    few.policy = &small;
    return {leased(), few};
  }
  /// Requests for both keys, a tick of the worker between them.
  void keep_asking(Duration from, Duration until) {
    for (Duration at = from; at <= until; at += 100ms) {
      for (int i = 0; i < 20; ++i) {
        Request denied(both());
        serve(denied, at);
        CHECK(denied.denied());
      }
      chain().leases().tick(epoch + at);
      settle_all();
    }
  }

  const rules::Policy small = gcra(10);
};

TEST_CASE("units of a key go back although requests that another key denies keep coming") {
  TwoKeys fixture;
  CHECK(fixture.units->value() > 0);
  fixture.keep_asking(0ms, 300ms);
  CHECK(fixture.units->value() == 0);
  CHECK(fixture.left() == 100 - 10);
  // They are not taken again while the other key is exhausted.
  for (int i = 4; i < 20; ++i) {
    fixture.keep_asking(i * 100ms, i * 100ms);
    CHECK(fixture.units->value() == 0);
  }
}

TEST_CASE("when the other key recovers, both are leased again") {
  TwoKeys fixture;
  fixture.keep_asking(0ms, 1s);
  fixture.remote.server_now += 3'600s;
  for (int i = 0; i < 10; ++i) {
    Request admitted(fixture.both());
    fixture.serve(admitted, 2s);
    fixture.settle_all();
    CHECK(admitted.admitted());
  }
  CHECK(fixture.counters.leased.value() > 0);
}

TEST_CASE("units that are too few for each request go back, and the store decides for a while") {
  LeasesFixture fixture(100);
  fixture.limit = gcra(20);
  const auto ask = [&](std::int64_t cost, Duration at) {
    Request request({fixture.leased(1, cost)});
    fixture.serve(request, at);
    fixture.settle_all();
    return request.admitted();
  };
  fixture.heat();
  fixture.settle_all();
  for (int i = 0; i < 10; ++i)
    CHECK(ask(1, 0ms));
  CHECK(fixture.units->value() > 0);
  // Two units are left.
  for (int i = 1; i < 40; ++i)
    CHECK_FALSE(ask(3, i * 5ms));
  CHECK(fixture.units->value() == 2);
  fixture.chain().leases().tick(epoch + 200ms);
  fixture.settle_all();
  CHECK(fixture.units->value() == 0);
  CHECK(fixture.left() == 2);
  for (int i = 40; i < 80; ++i)
    CHECK_FALSE(ask(3, i * 5ms));
  CHECK(fixture.units->value() == 0);
  CHECK(ask(2, 399ms));
}

}  // namespace
}  // namespace weir::store
