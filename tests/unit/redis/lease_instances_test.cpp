// Four processes with leases on the same keys. The truth is the definition of the algorithm over
// the list of all admitted requests.
#include <algorithm>

#include "catch.hpp"
#include "redis/override_text.hpp"
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
      worst = std::max(worst, (per - 1 - level) / per);
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
  // A hash that nobody reads stays for a while.
  for (std::size_t i = 0; i < LeaseWorld::process_count; ++i)
    world.request(i, 2);
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
    for (std::uint64_t seed = 1; seed <= std::min<std::uint64_t>(3, most_seeds); ++seed) {
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

namespace {

/// The most units that were admitted in a stretch of this length, without its end.
std::int64_t most_in(std::vector<Admitted> all, Duration length) {
  std::ranges::sort(all, {}, &Admitted::at);
  std::int64_t units = 0;
  std::int64_t most = 0;
  for (std::size_t i = 0, first = 0; i < all.size(); ++i) {
    units += all[i].cost;
    while (all[first].at + length <= all[i].at)
      units -= all[first++].cost;
    most = std::max(most, units);
  }
  return most;
}

void put_override(LeaseWorld& world, const store::Override& entry) {
  for (const std::uint64_t who : {1, 2}) {
    const Hash128 identity = world.claim_of(who).identity;
    world.server("SET", overrides_key("weir:", identity), "1\n" + override_line(entry) + "\n");
  }
}

std::vector<Admitted> admitted_from(const std::vector<Admitted>& all, Instant begin) {
  std::vector<Admitted> later;
  std::ranges::copy_if(all, std::back_inserter(later),
                       [&](const Admitted& one) { return one.at >= begin; });
  return later;
}

}  // namespace

TEST_CASE("Leases of windows without an instant of their own admit what the windows allow") {
  rules::Definition definition{.algorithm = Algorithm::fixed_window,
                               .rates = {{.count = 300, .per = 1s}}};
  const bool is_fixed = GENERATE(true, false);
  if (is_fixed) {
    definition.anchor = rules::Anchor::first_request;
  } else {
    definition.algorithm = Algorithm::sliding_window;
  }
  for (std::uint64_t seed = 1; seed <= std::min<std::uint64_t>(3, most_seeds); ++seed) {
    CAPTURE(is_fixed, seed);
    LeaseWorld world(policy(definition), seed);
    for (int round = 0; round < 20; ++round) {
      world.load(100ms + world.below(Duration{900ms}), 40 + 160 * world.below(3));
      const std::size_t i = world.below(LeaseWorld::process_count);
      const Duration length = 1ms + world.below(Duration{1s});
      switch (world.below(4)) {
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
    CHECK(world.commands < world.requests);
    for (const auto& [who, all] : world.admitted) {
      CAPTURE(who, all.size());
      if (is_fixed) {
        // A stretch of so many windows touches one more.
        for (int windows = 1; windows <= 5; ++windows)
          CHECK(most_in(all, windows * Duration{1s}) <= (windows + 1) * world.policy.capacity);
      } else {
        CHECK(most_in(all, 1s) <= world.policy.capacity * 11 / 10);
      }
    }
    check_rest(world);
  }
}

TEST_CASE("Workers of one instance share its part of the quota") {
  for (const std::size_t workers : {2, 4}) {
    CAPTURE(workers);
    LeaseWorld world(leased_policy(Algorithm::token_bucket), 1, workers);
    const std::int64_t most_of_worker =
        world.policy.capacity * world.share / (100 * static_cast<std::int64_t>(workers));
    std::int64_t most = 0;
    for (int i = 0; i < 200; ++i) {
      world.load(10ms, 400);
      most = std::max(most, world.units->value());
    }
    CHECK(most > 0);
    // Two keys in each process.
    CHECK(most <= 2 * static_cast<std::int64_t>(LeaseWorld::process_count) * most_of_worker);
    check_definition(world);
    check_rest(world);
  }
}

TEST_CASE("After FLUSHALL the quota comes once more, and the units of the leases") {
  for (const auto algorithm : {Algorithm::token_bucket, Algorithm::gcra, Algorithm::sliding_log}) {
    for (std::uint64_t seed = 1; seed <= std::min<std::uint64_t>(3, most_seeds); ++seed) {
      DYNAMIC_SECTION(to_string(algorithm) << " seed " << seed) {
        LeaseWorld world(leased_policy(algorithm), seed);
        world.load(1s + world.below(Duration{200ms}), 200);
        CHECK(world.units->value() > 0);
        world.server("FLUSHALL");
        world.load(2s, 200);
        const std::int64_t leases = world.policy.capacity * world.share / 100 *
                                    static_cast<std::int64_t>(LeaseWorld::process_count);
        for (const auto& [who, all] : world.admitted) {
          CAPTURE(who);
          CHECK(excess(world.policy, all) <= world.policy.capacity + leases);
        }
        CHECK(world.failures == 0);
        check_rest(world);
      }
    }
  }
}

TEST_CASE("An override applies to keys with leases and questions in flight within 300 ms") {
  const rules::Policy lower = policy(rules::Definition{
      .algorithm = Algorithm::gcra, .rates = {{.count = 60, .per = 1s}}, .burst = 30});
  const bool is_denial = GENERATE(false, true);
  for (std::uint64_t seed = 1; seed <= std::min<std::uint64_t>(5, most_seeds); ++seed) {
    CAPTURE(is_denial, seed);
    LeaseWorld world(leased_policy(Algorithm::gcra), seed);
    world.load(1s + world.below(Duration{200ms}), 200);
    CHECK(world.units->value() > 0);
    if (is_denial) {
      put_override(world, {.kind = store::Override::Kind::denied});
    } else {
      put_override(world, {.numbers = lower});
    }
    const Instant applies_at = world.now + 300ms;
    world.load(3s, 200);
    for (const auto& [who, all] : world.admitted) {
      CAPTURE(who);
      const auto later = admitted_from(all, applies_at);
      if (is_denial) {
        CHECK(later.empty());
      } else {
        CHECK(excess(lower, later) == 0);
        CHECK_FALSE(later.empty());
      }
    }
    CHECK(world.failures == 0);
    check_rest(world);
  }
}

namespace {

/// Requests for both keys at all processes, a few at a time, for a time.
void load_both(LeaseWorld& world, Duration length) {
  const Instant end = world.now + length;
  while (world.now < end) {
    for (std::size_t i = 0; i < LeaseWorld::process_count; ++i)
      world.request(i, 2);
    world.run_until(world.now + Duration{1} + world.below(Duration{4ms}));
  }
}

std::int64_t units_of(const std::vector<Admitted>& all) {
  std::int64_t units = 0;
  for (const Admitted& one : all)
    units += one.cost;
  return units;
}

}  // namespace

TEST_CASE("No unit is stranded in leases that are too small for each request") {
  const rules::Policy long_window = policy(Algorithm::fixed_window, 300, 1h);
  for (std::uint64_t seed = 1; seed <= most_seeds; ++seed) {
    CAPTURE(seed);
    LeaseWorld world(long_window, seed);
    world.least_cost = world.most_cost = 7;
    load_both(world, 3s);
    // All units but the rest of the division.
    for (const auto& [who, all] : world.admitted)
      CHECK(units_of(all) == 300 / 7 * 7);
    check_rest(world);
  }
}

TEST_CASE("No unit is stranded while clients keep asking for two keys") {
  // The window does not end meanwhile: each unit that is not spent stays unspent.
  const rules::Policy long_window = policy(Algorithm::fixed_window, 300, 1h);
  for (std::uint64_t seed = 1; seed <= most_seeds; ++seed) {
    CAPTURE(seed);
    LeaseWorld world(long_window, seed);
    world.most_cost = 1;
    // The keys have different units left, in leases of different processes.
    for (int i = 0; i < 60; ++i) {
      world.request(world.below(2), 0);
      world.request(2 + world.below(2), 1);
      world.run_until(world.now + 2ms);
    }
    load_both(world, 3s);
    Instant last{};
    for (const auto& [who, all] : world.admitted) {
      CHECK(units_of(all) <= 300);
      last = std::max(last, all.back().at);
    }
    CHECK(units_of(world.admitted[1]) == 300);
    CHECK(world.units->value() == 0);
    // A denial before the last admission was not the last word, and did not claim to be.
    std::size_t too_late = 0;
    for (const Denied& one : world.denied)
      too_late += one.at < last && one.retry_after > std::max(last - one.at, Duration{1s});
    CAPTURE(world.denied.size());
    CHECK(too_late == 0);
    CHECK(world.denied.back().retry_after > Duration{3000s});
    CHECK(world.commands < world.requests / 2);
  }
}

}  // namespace weir::redis::test
