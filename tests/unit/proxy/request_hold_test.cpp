#include "proxy/request_hold.hpp"

#include <stdexcept>

#include "catch.hpp"
#include "unit/store/fake_store.hpp"

namespace weir::proxy {
namespace {

using namespace std::chrono_literals;

constexpr Instant epoch = instant_from_us(1'700'000'000'000'000);

struct Held {
  store::test::FakeStore store;
  MonotonicClock clock;
  std::vector<store::Settlement> settlements{{.key = {}, .held = 3, .actual = 2}};

  Grant grant() { return {store, clock, settlements}; }
  void settled_once() const {
    CHECK(store.settle_calls == 1);
    REQUIRE(store.settled.size() == 1);
    CHECK(store.settled[0].held == 3);
    CHECK(store.settled[0].actual == 2);
  }
};

}  // namespace

TEST_CASE("A grant is settled when the response ends, and not once more by its destructor") {
  Held held;
  {
    Grant grant = held.grant();
    CHECK(grant.is_open());
    grant.settle(epoch + 2s);
    CHECK_FALSE(grant.is_open());
    CHECK(held.store.settled_at == epoch + 2s);
    grant.settle(epoch + 3s);
  }
  held.settled_once();
  CHECK(held.store.settled_at == epoch + 2s);
}

TEST_CASE("A grant whose owner ends is settled by its destructor, at that instant") {
  Held held;
  const Instant before = held.clock.now();
  SECTION("at the end of its scope") {
    const Grant grant = held.grant();
  }
  SECTION("by an exception") {
    try {
      const Grant grant = held.grant();
      throw std::runtime_error("lost");
    } catch (const std::runtime_error&) {
    }
  }
  held.settled_once();
  CHECK(held.store.settled_at >= before);
}

TEST_CASE("A grant that moves is settled by its last owner only") {
  Held held;
  {
    Grant first = held.grant();
    Grant second = std::move(first);
    CHECK(second.is_open());
    Grant third;
    third = std::move(second);
    CHECK(third.is_open());
    CHECK(held.store.settle_calls == 0);
  }
  held.settled_once();
}

TEST_CASE("A grant that replaces another settles that one") {
  Held first;
  Held second;
  Grant grant = first.grant();
  grant = second.grant();
  first.settled_once();
  CHECK(second.store.settle_calls == 0);
  grant = {};
  second.settled_once();
}

TEST_CASE("A request that is not admitted owns nothing") {
  Grant grant;
  CHECK_FALSE(grant.is_open());
  grant.settle(epoch);
}

}  // namespace weir::proxy
