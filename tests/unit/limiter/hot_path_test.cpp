// A decision about a key that the store has allocates nothing.
#include "catch.hpp"
#include "unit/http/allocations.hpp"
#include "unit/limiter/request_fixture.hpp"

namespace weir::limiter::test {

TEST_CASE("a decision about known keys allocates nothing") {
  Fixture fixture;
  fixture.limit(policy("per_client", gcra(100, 100s)), 0);
  fixture.limit(policy("per_user", gcra(50, 3'600s)), 2);
  fixture.limit(policy("same_again", gcra(100, 100s)), 0);
  rules::Definition watched = gcra(2, 3'600s);
  watched.algorithm = rules::Algorithm::attributed_window;
  auto attributed = policy("watched", watched);
  attributed.attributes = {{.kind = Attribute::Kind::client_address,
                            .text = {},
                            .name = {},
                            .source = {identity::FromClientAddress{}}},
                           {.kind = Attribute::Kind::query,
                            .text = {},
                            .name = "user",
                            .source = {identity::FromQuery{"user"}}}};
  attributed.shadow = true;
  fixture.limit(std::move(attributed), 0);
  fixture.route.limits.push_back(fixture.route.limits[0]);
  fixture.request.query = "user=somebody";
  // The attributed window is full after two, and decides without adding to its list.
  for (int i = 0; i < 3; ++i)
    REQUIRE(fixture.decide().outcome == Outcome::allowed);
  std::size_t denied = 0;
  CHECK(allocations_in([&] {
          for (int i = 0; i < 100; ++i) {
            denied += fixture.decide().outcome == Outcome::denied ? 1U : 0U;
          }
        }) == 0);
  CHECK(denied > 0);
  CHECK(denied < 100);
}

TEST_CASE("evaluating conditions allocates nothing") {
  Fixture fixture;
  Limit& limit = fixture.limit(policy("p", gcra(1'000, 1h)), 0);
  const auto list_of = [](const char* prefix) {
    return AddressList(prefix, PrefixTable({IpPrefix::parse(prefix).value()}));
  };
  limit.when =
      Condition{.address = list_of("192.0.2.0/24"), .methods = {"GET", "POST"}, .identity = 2};
  limit.unless = Condition{.address = list_of("198.51.100.0/24"), .identity = 1};
  fixture.request.query = "user=somebody";
  for (int i = 0; i < 3; ++i)
    REQUIRE(fixture.decide().outcome == Outcome::allowed);
  std::size_t allowed = 0;
  CHECK(allocations_in([&] {
          for (int i = 0; i < 100; ++i)
            allowed += fixture.decide().outcome == Outcome::allowed ? 1U : 0U;
        }) == 0);
  CHECK(allowed == 100);
}

TEST_CASE("looking for a plan allocates nothing") {
  Fixture fixture;
  Policy planned = policy("p", gcra(1'000, 1h));
  planned.planned = {{.plan = 1, .unlimited = false, .terms = policy("p", gcra(2'000, 1h))}};
  fixture.limit(std::move(planned), 0).when = Condition{.plans = {0, 1}};
  Plans& plans = fixture.config.limiter.plans;
  plans.names = {"free", "gold"};
  plans.index_names();
  plans.default_plan = 1;
  PlanTable table(1);
  table.add({.low = 1, .high = 2}, 0);
  plans.sources = {{PlanFromFile{.identity = 2, .shown = {}, .table = Replaceable(table)}},
                   {PlanFromHeader{"x-plan"}}};
  fixture.request.query = "user=somebody";
  fixture.header("x-plan", "platinum");
  UnknownPlans unknown;
  fixture.limiter = std::make_unique<Limiter>(fixture.config.limiter, fixture.store,
                                              store::Decider::memory, std::vector<PolicyRecord>{},
                                              identity::TokenReadings::Counters{}, &unknown);
  const auto decide = [&] {
    auto routes = fixture.routes();
    routes[0].evidence.peer_is_trusted = true;
    return fixture.decided(routes);
  };
  for (int i = 0; i < 3; ++i)
    REQUIRE(decide().outcome == Outcome::allowed);
  std::size_t allowed = 0;
  CHECK(allocations_in([&] {
          for (int i = 0; i < 100; ++i)
            allowed += decide().limits[0].decision.limit == 2'000 ? 1U : 0U;
        }) == 0);
  CHECK(allowed == 100);
  CHECK(unknown.count() == 103);
}

}  // namespace weir::limiter::test
