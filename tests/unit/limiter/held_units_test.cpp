#include "limiter/held_units.hpp"

#include "catch.hpp"

namespace weir::limiter {
namespace {

/// Two units of a limit that charges failures, and a slot.
struct Held {
  const Charge charge{.by_status = ChargeByStatus{.statuses = {{401, 401}}}};
  HeldUnits units{.settlements = {{.key = {}, .held = 2}, {.key = {}, .held = 1}},
                  .limits = {{.charge = &charge}, {}}};
};

TEST_CASE("held units are charged by their limits, and slots are only released") {
  Held held;
  SECTION("the status is charged") {
    end(held.units, {.status = 401});
    CHECK(held.units.settlements[0].actual == 2);
    CHECK(held.units.limits[0].by == SettledBy::status);
  }
  SECTION("the status is not charged") {
    end(held.units, {.status = 200});
    CHECK(held.units.settlements[0].actual == 0);
    CHECK(held.units.limits[0].by == SettledBy::status);
  }
  CHECK(held.units.settlements[1].actual == 0);
  CHECK_FALSE(held.units.limits[1].by);
  held.units.clear();
  CHECK(held.units.settlements.empty());
  CHECK(held.units.limits.empty());
}

TEST_CASE("the end of a lease is noted for slots, too") {
  Held held;
  end(held.units, {.lease_has_ended = true});
  CHECK(held.units.settlements[0].actual == 2);
  CHECK(held.units.limits[0].by == SettledBy::lease);
  CHECK(held.units.settlements[1].actual == 0);
  CHECK(held.units.limits[1].by == SettledBy::lease);
}

}  // namespace
}  // namespace weir::limiter
