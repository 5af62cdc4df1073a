// The holds that other proxies settle: each is applied once, by its owner.
#include "proxy/hold_directory.hpp"

#include <set>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "unit/proxy/world.hpp"
#include "unit/store/fake_store.hpp"

namespace weir::proxy::test {
namespace {

using namespace std::chrono_literals;

constexpr Instant start{std::chrono::hours(1000)};

/// A worker that notes how often it is called.
class Owner final : public HoldOwner {
 public:
  explicit Owner(HoldDirectory& directory) : directory_(directory) {}
  ~Owner() { directory_.withdraw(*this); }

  std::list<KeptHold> take() { return directory_.take_ended(*this); }
  int calls = 0;

 private:
  void wake() noexcept override { ++calls; }
  HoldDirectory& directory_;
};

/// The settings of a limit that charges 401, and units that it holds.
struct Held {
  Held() { settings.limiter.policies.emplace_back().name = "logins"; }
  limiter::HeldUnits units(std::int64_t held) const {
    return {.settlements = {{.key = {}, .held = held}},
            .limits = {{.policy = &settings.limiter.policies[0], .charge = &charge}}};
  }
  Configuration settings;
  const limiter::Charge charge{.by_status = limiter::ChargeByStatus{.statuses = {{401, 401}}}};
};

struct Fixture {
  Hash128 add(Owner& to, std::int64_t held, Duration lease = 1min) {
    limiter::HeldUnits units = held_.units(held);
    const auto id = directory.add(
        units,
        {.generation = *world.context.generation, .lease_ends_at = start + lease, .owner = to});
    REQUIRE(id);
    CHECK(units.limits.empty());
    return *id;
  }
  bool settle(const Hash128& id, int status = 401) { return settle_by(reader, id, status); }
  bool settle_by(const Owner& by, const Hash128& id, int status = 401) {
    return directory.settle(
        id, by, [&](limiter::HeldUnits& held) { limiter::end(held, {.status = status}); });
  }

  Held held_;
  store::test::FakeStore store;
  World world{Configuration{}, store};
  HoldDirectory directory{{.k0 = 3, .k1 = 4}, 3};
  Owner owner{directory};
  Owner reader{directory};  ///< the worker that gets the reports
};

TEST_CASE("a hold is settled once, and its owner is called") {
  Fixture fixture;
  const Hash128 id = fixture.add(fixture.owner, 5);
  CHECK(fixture.owner.calls == 0);
  CHECK(fixture.settle(id));
  CHECK(fixture.owner.calls == 1);
  CHECK_FALSE(fixture.settle(id));
  const auto ended = fixture.owner.take();
  REQUIRE(ended.size() == 1);
  CHECK(ended.front().units.settlements[0].actual == 5);
  CHECK(ended.front().units.limits[0].by == limiter::SettledBy::status);
  CHECK(fixture.owner.take().empty());
  CHECK(fixture.directory.size() == 0);
}

TEST_CASE("an owner is called for the first hold that has ended, and then for the next one") {
  Fixture fixture;
  const Hash128 ids[] = {fixture.add(fixture.owner, 1), fixture.add(fixture.owner, 2),
                         fixture.add(fixture.owner, 3)};
  fixture.settle(ids[0]);
  fixture.settle(ids[1]);
  CHECK(fixture.owner.calls == 1);
  CHECK(fixture.owner.take().size() == 2);
  fixture.settle(ids[2]);
  CHECK(fixture.owner.calls == 2);
}

TEST_CASE("an owner that settles its own hold is not called") {
  Fixture fixture;
  const Hash128 ids[] = {fixture.add(fixture.owner, 1), fixture.add(fixture.owner, 2)};
  CHECK(fixture.settle_by(fixture.owner, ids[0]));
  CHECK(fixture.owner.calls == 0);
  CHECK(fixture.owner.take().size() == 1);
  CHECK(fixture.settle(ids[1]));
  CHECK(fixture.owner.calls == 1);
  CHECK(fixture.reader.calls == 0);
}

TEST_CASE("an id that was not given settles nothing") {
  Fixture fixture;
  const Hash128 id = fixture.add(fixture.owner, 5);
  CHECK_FALSE(fixture.settle({.low = id.low, .high = id.high + 1}));
  CHECK_FALSE(fixture.settle({}));
  CHECK(fixture.directory.size() == 1);
}

TEST_CASE("the holds of two owners go to each of them") {
  Fixture fixture;
  Owner other(fixture.directory);
  const Hash128 first = fixture.add(fixture.owner, 1);
  const Hash128 second = fixture.add(other, 2);
  CHECK(fixture.settle(second));
  CHECK(fixture.owner.calls == 0);
  CHECK(fixture.owner.take().empty());
  REQUIRE(other.take().size() == 1);
  CHECK(fixture.settle(first));
  REQUIRE(fixture.owner.take().size() == 1);
}

TEST_CASE("a hold that is not settled is charged when its lease ends") {
  Fixture fixture;
  const Hash128 later = fixture.add(fixture.owner, 2, 3min);
  const Hash128 sooner = fixture.add(fixture.owner, 1, 2min);
  fixture.directory.end_leases(start + 2min - 1us);
  CHECK(fixture.owner.take().empty());
  fixture.directory.end_leases(start + 2min);
  const auto ended = fixture.owner.take();
  REQUIRE(ended.size() == 1);
  CHECK(ended.front().units.settlements[0].actual == 1);
  CHECK(ended.front().units.limits[0].by == limiter::SettledBy::lease);
  CHECK_FALSE(fixture.settle(sooner));
  CHECK(fixture.settle(later));
  fixture.directory.end_leases(start + 4min);
  CHECK(fixture.owner.take().size() == 1);
}

TEST_CASE("an owner that stops ends its holds as if their leases were over") {
  Fixture fixture;
  Owner other(fixture.directory);
  const Hash128 kept = fixture.add(other, 1);
  const Hash128 ended = fixture.add(fixture.owner, 2);
  fixture.directory.end_all(fixture.owner);
  CHECK_FALSE(fixture.settle(ended));
  const auto holds = fixture.owner.take();
  REQUIRE(holds.size() == 1);
  CHECK(holds.front().units.settlements[0].actual == 2);
  CHECK(holds.front().units.limits[0].by == limiter::SettledBy::lease);
  CHECK(fixture.settle(kept));
}

TEST_CASE("a full directory takes no hold, and leaves the units") {
  Fixture fixture;
  const Hash128 first = fixture.add(fixture.owner, 1);
  fixture.add(fixture.owner, 2);
  fixture.add(fixture.owner, 3);
  limiter::HeldUnits units = fixture.held_.units(4);
  const HoldDirectory::Terms terms{.generation = *fixture.world.context.generation,
                                   .lease_ends_at = start,
                                   .owner = fixture.owner};
  CHECK_FALSE(fixture.directory.add(units, terms));
  CHECK(units.settlements.size() == 1);
  CHECK(fixture.settle(first));
  CHECK(fixture.directory.add(units, terms));
}

TEST_CASE("an owner that withdraws leaves no hold") {
  Fixture fixture;
  Hash128 id;
  {
    Owner other(fixture.directory);
    id = fixture.add(other, 1);
    fixture.settle(fixture.add(other, 2));
  }
  CHECK_FALSE(fixture.settle(id));
  fixture.directory.end_leases(start + 1h);
  CHECK(fixture.directory.size() == 0);
  CHECK_FALSE(fixture.world.context.generation->is_pinned());
}

TEST_CASE("a hold keeps the configuration that admitted it") {
  Fixture fixture;
  const Hash128 id = fixture.add(fixture.owner, 1);
  CHECK(fixture.world.context.generation->is_pinned());
  fixture.settle(id);
  CHECK(fixture.world.context.generation->is_pinned());
  fixture.owner.take();
  CHECK_FALSE(fixture.world.context.generation->is_pinned());
}

TEST_CASE("ids do not repeat, and differ between processes") {
  Fixture fixture;
  HoldDirectory other{{.k0 = 5, .k1 = 6}, 1000};
  Owner owner(other);
  std::set<Hash128> ids;
  for (int i = 0; i < 3; ++i)
    ids.insert(fixture.add(fixture.owner, 1));
  for (int i = 0; i < 500; ++i) {
    limiter::HeldUnits units = fixture.held_.units(1);
    ids.insert(*other.add(
        units,
        {.generation = *fixture.world.context.generation, .lease_ends_at = start, .owner = owner}));
  }
  CHECK(ids.size() == 503);
}

TEST_CASE("of many threads that settle a hold one succeeds") {
  Fixture fixture;
  HoldDirectory directory{{.k0 = 5, .k1 = 6}, 1000};
  Owner owner(directory);
  std::vector<Hash128> ids;
  for (int i = 0; i < 500; ++i) {
    limiter::HeldUnits units = fixture.held_.units(1);
    ids.push_back(*directory.add(units, {.generation = *fixture.world.context.generation,
                                         .lease_ends_at = start + 1min * (i % 2),
                                         .owner = owner}));
  }
  std::atomic<int> settled{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (const Hash128& id : ids)
        settled += directory.settle(id, fixture.reader,
                                    [](auto& held) { limiter::end(held, {.status = 200}); });
    });
  }
  threads.emplace_back([&] { directory.end_leases(start); });
  for (std::thread& thread : threads)
    thread.join();
  const auto ended = owner.take();
  CHECK(ended.size() == 500);
  CHECK(owner.calls == 1);
  std::size_t by_lease = 0;
  for (const KeptHold& hold : ended)
    by_lease += hold.units.limits[0].by == limiter::SettledBy::lease;
  CHECK(by_lease + static_cast<std::size_t>(settled) == 500);
}

}  // namespace
}  // namespace weir::proxy::test
