// Four processes with leases on the same keys. The truth is the definition of the algorithm over
// the list of all admitted requests.
#include <algorithm>

#include "catch.hpp"
#include "unit/redis/lease_world.hpp"

namespace weir::redis::test {
namespace {

using rules::Algorithm;

rules::Policy leased_policy(Algorithm algorithm) {
  rules::Definition definition;
  definition.algorithm = algorithm;
  definition.rates = {{.count = 300, .per = 1s}};
  if (algorithm == Algorithm::fixed_window) definition.anchor = rules::Anchor::clock;
  if (algorithm == Algorithm::gcra || algorithm == Algorithm::token_bucket) definition.burst = 150;
  return policy(definition);
}

/// The largest number of units beyond the definition; 0: it holds.
std::int64_t excess(const rules::Policy& policy, std::vector<Admitted> all) {
  std::ranges::sort(all, {}, &Admitted::at);
  const std::int64_t per = to_us(policy.rates[0].per);
  std::int64_t worst = 0;
  if (policy.algorithm == Algorithm::fixed_window) {
    std::map<std::int64_t, std::int64_t> windows;
    for (const Admitted& one : all)
      windows[to_us(one.at) / per] += one.cost;
    for (const auto& [window, units] : windows)
      worst = std::max(worst, units - policy.capacity);
  } else if (policy.algorithm == Algorithm::sliding_log) {
    std::int64_t units = 0;
    for (std::size_t i = 0, first = 0; i < all.size(); ++i) {
      units += all[i].cost;
      while (all[first].at + policy.rates[0].per <= all[i].at)
        units -= all[first++].cost;
      worst = std::max(worst, units - policy.capacity);
    }
  } else {
    // A bucket in units of 1 / per.
    const std::int64_t full = policy.capacity * per;
    std::int64_t level = full;
    Instant before{};
    for (const Admitted& one : all) {
      const std::int64_t passed = std::min<std::int64_t>(to_us(one.at - before), 10 * per);
      level = std::min(full, level + passed * policy.rates[0].count) - one.cost * per;
      before = one.at;
      worst = std::max(worst, -level);
    }
  }
  return worst;
}

void check_definition(const LeaseWorld& world) {
  for (const auto& [who, all] : world.admitted) {
    CAPTURE(who, all.size());
    CHECK(excess(world.policy, all) == 0);
  }
}

/// A while after the last request all units are given back or charged, and nothing is lost.
void check_rest(LeaseWorld& world) {
  world.run_until(world.now + 30s);
  for (const auto& process : world.processes) {
    CHECK(std::ranges::all_of(process->requests, [](const auto& one) { return one->times == 1; }));
    CHECK_FALSE(process->leases.is_asking());
  }
  for (std::size_t i = 0; i < LeaseWorld::process_count; ++i)
    world.request(i);
  world.run_until(world.now + 1s);
  const Reply held = world.server("KEYS", "*:h");
  CHECK(held->elements == 0);
}

constexpr Algorithm exact_algorithms[] = {Algorithm::fixed_window, Algorithm::sliding_log,
                                          Algorithm::token_bucket, Algorithm::gcra};

}  // namespace

TEST_CASE("Leases of processes that run admit the quota, and never more") {
  for (const auto algorithm : exact_algorithms) {
    DYNAMIC_SECTION(to_string(algorithm)) {
      LeaseWorld world(leased_policy(algorithm), 1);
      const Instant begin = world.now;
      world.load(5s, 400);
      check_definition(world);
      std::int64_t units = 0;
      for (const auto& [who, all] : world.admitted) {
        for (const Admitted& one : all)
          units += one.cost;
      }
      // The demand is much more than the quota of both keys.
      const std::int64_t quota = 2 * 300 * to_us(world.now - begin) / 1'000'000;
      CAPTURE(units, quota, world.requests, world.commands);
      CHECK(units > quota * 8 / 10);
      CHECK(world.failures == 0);
      CHECK(world.commands < world.requests / 4);
      check_rest(world);
    }
  }
}

TEST_CASE("Leases of processes that die, pause and are cut off never admit more than the quota") {
  for (const auto algorithm : exact_algorithms) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      DYNAMIC_SECTION(to_string(algorithm) << " seed " << seed) {
        LeaseWorld world(leased_policy(algorithm), seed);
        for (int round = 0; round < 40; ++round) {
          world.load(100ms + world.below(Duration{900ms}), 40 + 160 * world.below(3));
          const std::size_t i = world.below(LeaseWorld::process_count);
          // Some are longer than the lease of the holds.
          const Duration length = 1ms + world.below(Duration{world.below(3) == 0 ? 15s : 1s});
          switch (world.below(5)) {
            case 0:
              world.kill(i);
              break;
            case 1:
              world.pause(i, length);
              break;
            case 2:
              world.cut_off(i, length);
              break;
            default:
              break;
          }
        }
        check_definition(world);
        check_rest(world);
      }
    }
  }
}

TEST_CASE("A process that pauses for longer than its units are held spends none of them") {
  for (const auto algorithm : exact_algorithms) {
    DYNAMIC_SECTION(to_string(algorithm)) {
      LeaseWorld world(leased_policy(algorithm), 1);
      world.load(1s, 40);
      CHECK(world.units->value() > 0);
      world.pause(0, 12s);
      world.load(12s, 200);
      for (int i = 0; i < 100; ++i)
        world.request(0);
      world.load(1s, 400);
      check_definition(world);
      check_rest(world);
    }
  }
}

}  // namespace weir::redis::test
