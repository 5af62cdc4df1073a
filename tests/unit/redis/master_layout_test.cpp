#include "redis/master_layout.hpp"

#include "catch.hpp"

using namespace weir::redis;

namespace {

weir::options::RedisServer at(int number) {
  return {"10.0.0." + std::to_string(number), 6379};
}

const SlotRange all_of_first{0, 16383, at(1)};

}  // namespace

TEST_CASE("a change of the masters names the servers and the number of slots") {
  struct Row {
    SlotRanges before;
    SlotRanges after;
    std::string text;
  };
  const auto row = GENERATE(values<Row>({
      // a replica has taken over
      {{{0, 8191, at(1)}, {8192, 16383, at(2)}},
       {{0, 8191, at(3)}, {8192, 16383, at(2)}},
       "10.0.0.3:6379 has taken over 8192 slots of 10.0.0.1:6379; new master: 10.0.0.3:6379; no "
       "longer a master: 10.0.0.1:6379"},
      // one slot has moved between masters
      {{{0, 8191, at(1)}, {8192, 16383, at(2)}},
       {{0, 8192, at(1)}, {8193, 16383, at(2)}},
       "10.0.0.1:6379 has taken over 1 slot of 10.0.0.2:6379"},
      // a master has joined; the largest takeover is first
      {{{0, 8191, at(1)}, {8192, 16383, at(2)}},
       {{0, 99, at(3)}, {100, 8191, at(1)}, {8192, 8391, at(3)}, {8392, 16383, at(2)}},
       "10.0.0.3:6379 has taken over 200 slots of 10.0.0.2:6379, 10.0.0.3:6379 has taken over 100 "
       "slots of 10.0.0.1:6379; new master: 10.0.0.3:6379"},
      // slots without a master before, and after
      {{{0, 99, at(1)}},
       {{0, 299, at(1)}},
       "10.0.0.1:6379 has taken over 200 slots without a master"},
      {{{0, 99, at(1)}, {100, 16383, at(2)}},
       {{0, 98, at(1)}},
       "16284 slots of 10.0.0.2:6379 have no master any more, 1 slot of 10.0.0.1:6379 has no "
       "master any more; no longer a master: 10.0.0.2:6379"},
      // all servers are others
      {{{0, 9, at(1)}, {10, 16383, at(2)}},
       {{0, 9, at(3)}, {10, 16383, at(4)}},
       "10.0.0.4:6379 has taken over 16374 slots of 10.0.0.2:6379, 10.0.0.3:6379 has taken over "
       "10 slots of 10.0.0.1:6379; new masters: 10.0.0.3:6379, 10.0.0.4:6379; no longer masters: "
       "10.0.0.1:6379, 10.0.0.2:6379"},
  }));
  CHECK(change_text({.ranges = row.before}, {.ranges = row.after}) == "redis cluster: " + row.text);
}

TEST_CASE("a change of many masters has a bounded length") {
  SlotRanges ranges;
  for (int i = 0; i < 100; ++i) {
    const auto first = static_cast<HashSlot>(100 * i);
    ranges.push_back({first, static_cast<HashSlot>(first + i), at(i + 2)});
  }
  const std::string text = change_text({.ranges = {all_of_first}}, {.ranges = ranges});
  CHECK(text.size() < 1500);
  CHECK(
      text.starts_with("redis cluster: 11334 slots of 10.0.0.1:6379 have no master any more, "
                       "10.0.0.101:6379 has taken over 100 slots of 10.0.0.1:6379, "));
  // 5050 slots have another master; the nine largest takeovers are listed.
  CHECK(text.find(", and 4186 slots more; new masters: 10.0.0.2:6379, ") != std::string::npos);
  CHECK(text.find("10.0.0.11:6379 and 90 more; no longer a master: ") != std::string::npos);
}

TEST_CASE("with sentinels one server replaces another") {
  const MasterLayout before{.name = "mymaster", .ranges = {all_of_first}};
  const MasterLayout after{.name = "mymaster", .ranges = {{0, 16383, {"::1", 6380}}}};
  CHECK(change_text(before, after) ==
        "redis sentinel: the master \"mymaster\" is [::1]:6380 now; it replaces 10.0.0.1:6379");
}

TEST_CASE("the masters are listed once, sorted") {
  CHECK(masters_text({}).empty());
  CHECK(masters_text({.ranges = {{0, 9, at(2)}, {10, 19, at(1)}, {20, 29, at(2)}}}) ==
        "10.0.0.1:6379, 10.0.0.2:6379");
}
