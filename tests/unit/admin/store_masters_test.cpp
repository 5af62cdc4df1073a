#include "admin/store_masters.hpp"

#include "catch.hpp"

namespace weir::admin {
namespace {

using std::chrono::seconds;

const Instant masters_start = instant_from_us(1'000'000'000);

options::RedisServer master_at(int number) {
  return {"10.0.0." + std::to_string(number), 6379};
}

/// The first `slots` slots have one master, the others another one.
std::shared_ptr<const redis::MasterLayout> layout(int first, int slots, int second) {
  return std::make_shared<const redis::MasterLayout>(redis::MasterLayout{
      .name = {},
      .ranges = {{0, static_cast<redis::HashSlot>(slots - 1), master_at(first)},
                 {static_cast<redis::HashSlot>(slots), 16383, master_at(second)}}});
}

}  // namespace

TEST_CASE("The masters that are found first are no change") {
  StoreMasters masters;
  CHECK_FALSE(masters.take_change(masters_start).has_value());
  masters.report(layout(1, 100, 2));
  CHECK_FALSE(masters.take_change(masters_start).has_value());
  // Of another Redis.
  masters.clear();
  CHECK_FALSE(masters.take_change(masters_start).has_value());
  masters.report(layout(3, 100, 4));
  CHECK_FALSE(masters.take_change(masters_start).has_value());
}

TEST_CASE("A change is logged once, at once, whichever workers find it") {
  StoreMasters masters;
  masters.report(layout(1, 100, 2));
  masters.take_change(masters_start);
  masters.report(layout(3, 100, 2));
  CHECK(masters.take_change(masters_start) ==
        "redis cluster: 10.0.0.3:6379 has taken over 100 slots of 10.0.0.1:6379; new master: "
        "10.0.0.3:6379; no longer a master: 10.0.0.1:6379");
  CHECK_FALSE(masters.take_change(masters_start).has_value());
  masters.report(layout(3, 100, 2));
  CHECK_FALSE(masters.take_change(masters_start + seconds(60)).has_value());
}

TEST_CASE("Slots that move between the same masters are logged once in ten seconds") {
  StoreMasters masters;
  masters.report(layout(1, 100, 2));
  masters.take_change(masters_start);
  masters.report(layout(1, 101, 2));
  CHECK(masters.take_change(masters_start) ==
        "redis cluster: 10.0.0.1:6379 has taken over 1 slot of 10.0.0.2:6379");
  for (int slots = 102; slots < 150; ++slots) {
    masters.report(layout(1, slots, 2));
    CHECK_FALSE(masters.take_change(masters_start + seconds(9)).has_value());
  }
  CHECK(masters.take_change(masters_start + seconds(10)) ==
        "redis cluster: 10.0.0.1:6379 has taken over 48 slots of 10.0.0.2:6379");
  // Those that move back within that time are no change.
  masters.report(layout(1, 200, 2));
  CHECK_FALSE(masters.take_change(masters_start + seconds(11)).has_value());
  masters.report(layout(1, 149, 2));
  CHECK_FALSE(masters.take_change(masters_start + seconds(60)).has_value());
}

TEST_CASE("Other masters are logged at once, at most three times in ten seconds") {
  StoreMasters masters;
  masters.report(layout(1, 100, 2));
  masters.take_change(masters_start);
  int lines = 0;
  for (int server = 3; server < 10; ++server) {
    masters.report(layout(server, 100, 2));
    lines += masters.take_change(masters_start + seconds(1)).has_value() ? 1 : 0;
  }
  CHECK(lines == 3);
  const auto last = masters.take_change(masters_start + seconds(11));
  REQUIRE(last.has_value());
  CHECK(last->starts_with("redis cluster: 10.0.0.9:6379 has taken over 100 slots of 10.0.0.5:"));
}

}  // namespace weir::admin
