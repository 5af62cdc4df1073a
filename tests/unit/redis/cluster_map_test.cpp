// The map of a cluster: a table of events, and random histories in which every action is carried
// out.
#include "redis/cluster_map.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "catch.hpp"
#include "seed.hpp"

using namespace weir;
using namespace weir::redis;
using namespace std::chrono_literals;

namespace {

using MapActions = ClusterMap::Actions;
using MapTime = ClusterMap::Time;

constexpr Duration timeout_of_read = 500ms;

options::RedisServer server(int number) {
  return {"10.0.0." + std::to_string(number), 6379};
}

/// A map whose actions are noted.
struct MapFixture {
  explicit MapFixture(std::vector<options::RedisServer> configured)
      : map(std::move(configured), timeout_of_read) {}

  const MapActions& note(MapActions actions) {
    for (const std::size_t i : actions.close)
      open.erase(i);
    for (const std::size_t i : actions.open)
      open[i] = map.address(i);
    wake_at = actions.wake_at;
    return last = std::move(actions);
  }
  std::size_t index(const options::RedisServer& address) const { return map.find(address).value(); }
  const MapActions& ready(int number) { return note(map.on_ready(index(server(number)), now)); }
  const MapActions& fail(int number) { return note(map.on_failure(index(server(number)), now)); }
  const MapActions& slots(const SlotRanges& ranges) { return note(map.on_slots(ranges, now)); }
  const MapActions& wait() {
    now = wake_at.value();
    return note(map.on_deadline(now));
  }
  std::set<std::string> open_hosts() const {
    std::set<std::string> hosts;
    for (const auto& [i, address] : open)
      hosts.insert(address.host);
    return hosts;
  }

  MapTime now{};
  ClusterMap map;
  std::map<std::size_t, options::RedisServer> open;
  std::optional<MapTime> wake_at;
  MapActions last;
};

const SlotRanges two_masters{{0, 8191, server(1)}, {8192, 16383, server(2)}};

/// Servers 1 and 2 are the masters, and connected.
MapFixture whole_map() {
  MapFixture fixture({server(1), server(2), server(3)});
  fixture.note(fixture.map.start(fixture.now));
  fixture.ready(1);
  fixture.slots(two_masters);
  fixture.ready(2);
  return fixture;
}

}  // namespace

TEST_CASE("The first server that is connected is asked; then only masters are connected") {
  MapFixture fixture({server(1), server(2), server(3)});
  fixture.note(fixture.map.start(fixture.now));
  CHECK(fixture.open_hosts().size() == 3);
  CHECK_FALSE(fixture.last.ask.has_value());
  CHECK_FALSE(fixture.map.owner(0).has_value());
  CHECK(fixture.map.missing_slots() == hash_slots);
  CHECK(fixture.ready(3).ask == fixture.index(server(3)));
  CHECK(fixture.wake_at == fixture.now + timeout_of_read);
  CHECK_FALSE(fixture.ready(2).ask.has_value());  // one at a time
  fixture.slots({{0, 8191, server(2)}, {8192, 16383, server(4)}});
  CHECK(fixture.open_hosts() == std::set<std::string>{"10.0.0.2", "10.0.0.4"});
  CHECK(fixture.map.owner(8191) == fixture.index(server(2)));
  CHECK(fixture.map.owner(8192) == fixture.index(server(4)));
  CHECK(fixture.map.missing_slots() == 8192);
  // Until each slot has a master that is connected, the slots are read again.
  CHECK(fixture.wake_at == fixture.now + ClusterMap::first_pause);
  fixture.ready(4);
  CHECK(fixture.map.is_whole());
  CHECK(fixture.map.ranges() == SlotRanges{{0, 8191, server(2)}, {8192, 16383, server(4)}});
  CHECK(fixture.map.one_slot_per_server() == std::vector<HashSlot>{0, 8192});
}

TEST_CASE("A server that does not reply, or has no slots, is followed by another") {
  MapFixture fixture({server(1), server(2)});
  fixture.note(fixture.map.start(fixture.now));
  fixture.ready(1);
  fixture.ready(2);
  REQUIRE(fixture.last.ask.has_value() == false);
  fixture.wait();  // the timeout of the read
  CHECK(fixture.last.ask == fixture.index(server(2)));
  fixture.slots({});
  CHECK(fixture.map.missing_slots() == hash_slots);
  fixture.wait();
  CHECK(fixture.last.ask == fixture.index(server(1)));
  fixture.note(fixture.map.on_no_slots(fixture.now));
  CHECK_FALSE(fixture.last.ask.has_value());  // after a pause
  CHECK(fixture.wait().ask == fixture.index(server(2)));
}

TEST_CASE("The ranges are sorted, and those of one master are joined") {
  MapFixture fixture({server(1)});
  CHECK(fixture.map.ranges().empty());
  fixture.note(fixture.map.start(fixture.now));
  fixture.ready(1);
  fixture.slots({{300, 399, server(2)}, {100, 199, server(1)}, {0, 99, server(1)}});
  CHECK(fixture.map.ranges() == SlotRanges{{0, 199, server(1)}, {300, 399, server(2)}});
  fixture.slots({{200, 300, server(1)}});
  CHECK(fixture.map.ranges() == SlotRanges{{200, 300, server(1)}});
}

TEST_CASE("MOVED changes a slot at once, and the slots are read again") {
  MapFixture fixture = whole_map();
  REQUIRE(fixture.map.is_whole());
  fixture.now += 10s;
  fixture.note(fixture.map.on_refusal(
      {.kind = SlotRefusal::Kind::moved, .slot = 7, .server = server(2)}, fixture.now));
  CHECK(fixture.map.owner(7) == fixture.index(server(2)));
  CHECK(fixture.map.owner(8) == fixture.index(server(1)));
  CHECK(fixture.last.ask.has_value());
  // Further ones wait for the reply, then for the pause.
  fixture.note(fixture.map.on_refusal(
      {.kind = SlotRefusal::Kind::moved, .slot = 8, .server = server(5)}, fixture.now));
  CHECK_FALSE(fixture.last.ask.has_value());
  CHECK(fixture.map.owner(8) == fixture.index(server(5)));
  CHECK(fixture.open_hosts().contains("10.0.0.5"));
  fixture.slots(two_masters);
  CHECK(fixture.map.owner(7) == fixture.index(server(1)));
  CHECK_FALSE(fixture.open_hosts().contains("10.0.0.5"));
  CHECK_FALSE(fixture.wake_at.has_value());
}

TEST_CASE("ASK changes no slot; its server is kept for a while") {
  MapFixture fixture = whole_map();
  fixture.now += 10s;
  const SlotRefusal ask{.kind = SlotRefusal::Kind::ask, .slot = 7, .server = server(5)};
  fixture.note(fixture.map.on_refusal(ask, fixture.now));
  CHECK(fixture.map.owner(7) == fixture.index(server(1)));
  CHECK(fixture.open_hosts().contains("10.0.0.5"));
  CHECK_FALSE(fixture.last.ask.has_value());
  fixture.note(
      fixture.map.on_refusal({.kind = SlotRefusal::Kind::down, .server = {}}, fixture.now));
  fixture.slots(two_masters);
  CHECK(fixture.open_hosts().contains("10.0.0.5"));
  fixture.now += ClusterMap::kept_for;
  fixture.note(
      fixture.map.on_refusal({.kind = SlotRefusal::Kind::down, .server = {}}, fixture.now));
  fixture.slots(two_masters);
  CHECK_FALSE(fixture.open_hosts().contains("10.0.0.5"));
}

TEST_CASE("A refusal without the address of another server has the slots read again") {
  using Kind = SlotRefusal::Kind;
  for (const auto kind : {Kind::elsewhere, Kind::down}) {
    MapFixture fixture = whole_map();
    fixture.now += 10s;
    fixture.note(fixture.map.on_refusal({.kind = kind, .slot = 7, .server = {}}, fixture.now));
    CHECK(fixture.map.owner(7) == fixture.index(server(1)));
    CHECK(fixture.last.ask.has_value());
  }
}

TEST_CASE("A lost master costs its own slots; they are read with growing pauses until it is back") {
  MapFixture fixture = whole_map();
  fixture.now += 10s;
  CHECK(fixture.fail(1).ask == fixture.index(server(2)));
  CHECK(fixture.map.missing_slots() == 8192);
  CHECK(fixture.map.owner(0) == fixture.index(server(1)));
  std::vector<Duration> pauses;
  for (int i = 0; i < 6; ++i) {
    fixture.slots(two_masters);
    const MapTime asked_at = fixture.now;
    CHECK(fixture.wait().ask == fixture.index(server(2)));
    pauses.push_back(std::chrono::duration_cast<Duration>(fixture.now - asked_at));
  }
  CHECK(pauses == std::vector<Duration>{100ms, 200ms, 400ms, 800ms, 1s, 1s});
  // Its replica has become the master.
  fixture.slots({{0, 8191, server(9)}, {8192, 16383, server(2)}});
  CHECK(fixture.open_hosts() == std::set<std::string>{"10.0.0.2", "10.0.0.9"});
  fixture.ready(9);
  CHECK(fixture.map.is_whole());
}

TEST_CASE("Without any connection the servers of the configuration are tried again") {
  MapFixture fixture = whole_map();
  REQUIRE_FALSE(fixture.open_hosts().contains("10.0.0.3"));
  fixture.fail(1);
  fixture.note(fixture.map.on_no_slots(fixture.now));
  CHECK_FALSE(fixture.open_hosts().contains("10.0.0.3"));
  fixture.fail(2);
  CHECK(fixture.open_hosts().contains("10.0.0.3"));
  fixture.now += 10s;
  CHECK(fixture.ready(3).ask == fixture.index(server(3)));
}

TEST_CASE("Random histories: actions fit the state, and a cluster that is at rest becomes whole") {
  const TestSeed seed;
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t end) { return random() % end; };
  for (int history = 0; history < 50; ++history) {
    MapFixture fixture({server(0), server(1)});
    std::map<int, bool> is_up;
    SlotRanges truth;
    const auto reshape = [&] {
      truth.clear();
      const int parts = 1 + static_cast<int>(below(5));
      for (int i = 0; i < parts; ++i) {
        truth.push_back({static_cast<HashSlot>(hash_slots * i / parts),
                         static_cast<HashSlot>(hash_slots * (i + 1) / parts - 1),
                         server(static_cast<int>(below(6)))});
      }
    };
    std::optional<std::size_t> asked;
    const auto carry_out = [&](MapActions actions) {
      for (const std::size_t i : actions.open)
        REQUIRE((!fixture.open.contains(i) || std::ranges::count(actions.close, i) > 0));
      if (actions.ask) {
        REQUIRE(fixture.map.is_ready(*actions.ask));
        asked = actions.ask;
      }
      fixture.note(std::move(actions));
      if (asked && !fixture.open.contains(*asked)) asked.reset();
      for (std::size_t slot = 0; slot < hash_slots; slot += 997)
        if (const auto owner = fixture.map.owner(static_cast<HashSlot>(slot)))
          REQUIRE(fixture.open.contains(*owner));
    };
    const auto connect_all = [&](bool everything) {
      for (const auto& [i, address] : std::map(fixture.open))
        if (fixture.open.contains(i) && !fixture.map.is_ready(i) && (everything || below(2) == 0))
          carry_out(fixture.map.on_ready(i, fixture.now));
    };
    const auto reply = [&](bool is_good) {
      if (!asked) return;
      asked.reset();
      carry_out(is_good ? fixture.map.on_slots(truth, fixture.now)
                        : fixture.map.on_no_slots(fixture.now));
    };
    reshape();
    carry_out(fixture.map.start(fixture.now));
    for (int step = 0; step < 200; ++step) {
      fixture.now += Duration{below(300'000)};
      if (fixture.wake_at && *fixture.wake_at <= fixture.now) {
        asked.reset();
        carry_out(fixture.map.on_deadline(fixture.now));
      }
      switch (below(6)) {
        case 0:
          reshape();
          break;
        case 1:
          connect_all(false);
          break;
        case 2:
          if (!fixture.open.empty()) {
            const auto lost = std::next(fixture.open.begin(), below(fixture.open.size()))->first;
            if (asked == lost) reply(false);
            if (fixture.open.contains(lost)) carry_out(fixture.map.on_failure(lost, fixture.now));
          }
          break;
        case 3: {
          const auto kind = static_cast<SlotRefusal::Kind>(below(4));
          carry_out(fixture.map.on_refusal({.kind = kind,
                                            .slot = static_cast<HashSlot>(below(hash_slots)),
                                            .server = server(static_cast<int>(below(8)))},
                                           fixture.now));
          break;
        }
        default:
          reply(below(3) != 0);
      }
    }
    // At rest. Nodes refuse what they do not have.
    for (const SlotRange& range : truth) {
      for (std::size_t slot = range.first; slot <= range.last; ++slot) {
        const auto owner = fixture.map.owner(static_cast<HashSlot>(slot));
        if (owner && fixture.map.address(*owner) == range.master) continue;
        carry_out(fixture.map.on_refusal({.kind = SlotRefusal::Kind::moved,
                                          .slot = static_cast<HashSlot>(slot),
                                          .server = range.master},
                                         fixture.now));
        break;
      }
    }
    for (int i = 0; i < 20 && !(fixture.map.is_whole() && !fixture.wake_at); ++i) {
      connect_all(true);
      reply(true);
      if (fixture.wake_at) {
        fixture.now = *fixture.wake_at;
        carry_out(fixture.map.on_deadline(fixture.now));
      }
    }
    connect_all(true);
    REQUIRE(fixture.map.is_whole());
    for (const SlotRange& range : truth)
      REQUIRE(fixture.map.address(fixture.map.owner(range.first).value()) == range.master);
  }
}
