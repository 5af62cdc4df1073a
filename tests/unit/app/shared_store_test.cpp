#include "app/shared_store.hpp"

#include "catch.hpp"
#include "unit/limiter/request_fixture.hpp"

namespace weir::app::test {
namespace {

using limiter::Limit;
using limiter::test::Fixture;

using rules::Algorithm;
using Sets = std::vector<redis::AlgorithmSet>;

limiter::Policy policy_of(Algorithm algorithm) {
  limiter::Policy policy;
  policy.numbers.algorithm = algorithm;
  return policy;
}

constexpr redis::AlgorithmSet bit(Algorithm algorithm) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(algorithm));
}

constexpr redis::AlgorithmSet fixed = bit(Algorithm::fixed_window);
constexpr redis::AlgorithmSet log = bit(Algorithm::sliding_log);
constexpr redis::AlgorithmSet gcra_bit = bit(Algorithm::gcra);

Sets sets_of(Fixture& fixture) {
  const std::array<std::span<const Limit>, 1> limits{fixture.route.limits};
  return algorithm_sets(fixture.config.limiter, limits);
}

}  // namespace

TEST_CASE("Limits that always apply are one set") {
  Fixture fixture;
  CHECK(sets_of(fixture).empty());
  fixture.limit(policy_of(Algorithm::fixed_window), 0);
  CHECK(sets_of(fixture) == Sets{fixed});
  fixture.limit(policy_of(Algorithm::fixed_window), 0);
  CHECK(sets_of(fixture) == Sets{fixed});
  fixture.limit(policy_of(Algorithm::gcra), 0);
  CHECK(sets_of(fixture) == Sets{fixed | gcra_bit});
}

TEST_CASE("A limit whose identity may be absent is in one set and not in another") {
  Fixture fixture;
  fixture.limit(policy_of(Algorithm::fixed_window), 0);
  fixture.limit(policy_of(Algorithm::gcra), 1);
  SECTION("absent") {
    CHECK(sets_of(fixture) == Sets{fixed, fixed | gcra_bit});
  }
  SECTION("two of them") {
    fixture.limit(policy_of(Algorithm::sliding_log), 2);
    CHECK(sets_of(fixture) == Sets{fixed, fixed | log, fixed | gcra_bit, fixed | log | gcra_bit});
  }
  SECTION("required, under a condition") {
    fixture.route.limits[1].required = true;
    fixture.route.limits[1].unless = limiter::Condition{.methods = {"GET"}};
    CHECK(sets_of(fixture) == Sets{fixed, fixed | gcra_bit});
  }
  SECTION("required") {
    fixture.route.limits[1].required = true;
    CHECK(sets_of(fixture) == Sets{fixed | gcra_bit});
  }
  SECTION("falls back to what is always there") {
    fixture.route.limits[1].otherwise = 0;
    CHECK(sets_of(fixture) == Sets{fixed | gcra_bit});
  }
  SECTION("falls back to what may be absent, too") {
    fixture.route.limits[1].otherwise = 2;
    CHECK(sets_of(fixture) == Sets{fixed, fixed | gcra_bit});
  }
}

TEST_CASE("The sets of all routes, each once") {
  Fixture fixture;
  fixture.limit(policy_of(Algorithm::fixed_window), 0);
  const auto first = fixture.route;
  fixture.route = {};
  fixture.limit(policy_of(Algorithm::gcra), 1);
  const std::array<std::span<const Limit>, 4> limits{
      first.limits, fixture.route.limits, first.limits, {}};
  // The last one is for a request that is charged to the limits of several routes.
  CHECK(algorithm_sets(fixture.config.limiter, limits) == Sets{fixed, gcra_bit, fixed | gcra_bit});
}

}  // namespace weir::app::test
