// Plans: the numbers in force, the source that counts, and names that are unknown.
#include "limiter/plans.hpp"

#include "catch.hpp"
#include "limiter/unknown_plans.hpp"
#include "unit/limiter/request_fixture.hpp"

namespace weir::limiter::test {
namespace {

constexpr std::size_t free_plan = 0, gold = 1, internal = 2;

/// `policy` with `count` units an hour; gold has twice as many, internal is unlimited.
Policy planned_policy(const char* name, std::int64_t count) {
  Policy result = policy(name, gcra(count, 1h));
  result.planned = {{.plan = gold, .unlimited = false, .terms = policy(name, gcra(2 * count, 1h))},
                    {.plan = internal, .unlimited = true, .terms = {}}};
  return result;
}

struct PlanFixture : Fixture {
  PlanFixture() {
    config.limiter.plans.names = {"free", "gold", "internal"};
    config.limiter.plans.index_names();
    config.limiter.plans.sources = {{PlanFromHeader{"x-plan"}}};
  }
  Verdict decide_as(const char* plan) {
    fields.clear();
    header("x-plan", plan);
    return decide_trusted();
  }
  Verdict decide_trusted(bool is_trusted = true) {
    if (!limiter)
      limiter = std::make_unique<Limiter>(config.limiter, store, store::Decider::memory,
                                          std::vector<PolicyRecord>{},
                                          identity::TokenReadings::Counters{}, &unknown);
    auto all = routes();
    for (RouteEvidence& one : all)
      one.evidence.peer_is_trusted = is_trusted;
    return decided(all);
  }
  PlanFromFile file(std::size_t identity,
                    std::initializer_list<std::pair<const char*, int>> lines) {
    PlanTable table(lines.size());
    for (const auto& [value, plan] : lines) {
      for (const Hash128& key :
           identity::keys_of(config.limiter.identities[identity].source, value,
                             {.client = config.proxy.client_address}, config.limiter.identity_key))
        table.add(key, static_cast<std::uint16_t>(plan));
    }
    return {.identity = identity, .shown = "plans.tsv", .table = Replaceable(std::move(table))};
  }
  UnknownPlans unknown;
};

}  // namespace

TEST_CASE("a plan replaces the numbers of a policy and keeps its use") {
  PlanFixture fixture;
  fixture.limit(planned_policy("p", 3), 0);
  const auto remaining = [&](const char* plan) {
    const Verdict verdict = fixture.decide_as(plan);
    REQUIRE(verdict.limits.size() == 1);
    return verdict.limits[0].decision.remaining;
  };
  CHECK(remaining("free") == 2);
  CHECK(fixture.decide_as("gold").limits[0].decision.limit == 6);
  const Verdict free = fixture.decide_as("free");
  CHECK(*free.plan == "free");
  CHECK(free.limits[0].terms == &fixture.config.limiter.policies[0]);
  const Verdict changed = fixture.decide_as("gold");
  CHECK(*changed.plan == "gold");
  CHECK(changed.limits[0].terms == &fixture.config.limiter.policies[0].planned[0].terms);
  CHECK(fixture.evaluation.claims[0].policy_revision == 1);
  const Verdict unlimited = fixture.decide_as("internal");
  CHECK(unlimited.outcome == Outcome::unlimited);
  CHECK(*unlimited.plan == "internal");
  CHECK(fixture.decide_as("").plan == nullptr);
  CHECK(fixture.evaluation.claims[0].policy_revision == 0);
}

TEST_CASE("unlimited requires no identity") {
  PlanFixture fixture;
  fixture.limit(planned_policy("p", 3), 1).required = true;
  CHECK(fixture.decide_as("gold").outcome == Outcome::identity_required);
  CHECK(fixture.decide_as("internal").outcome == Outcome::unlimited);
}

TEST_CASE("an override limits a client whose plan is unlimited") {
  using store::Override;
  PlanFixture fixture;
  fixture.limit(planned_policy("p", 3), 0);
  const auto put = [&](Override::Kind kind) {
    fixture.store.overrides().put(
        fixture.evaluation.claims[0].identity,
        {.kind = kind, .policy = "p", .policy_id = 0, .numbers = policy("p", gcra(5, 1h)).numbers},
        epoch, [](const auto&) {});
  };
  CHECK(fixture.decide_as("internal").outcome == Outcome::unlimited);
  put(Override::Kind::numbers);
  const Verdict limited = fixture.decide_as("internal");
  CHECK(limited.outcome == Outcome::allowed);
  REQUIRE(limited.limits.size() == 1);
  CHECK(limited.limits[0].decision.limit == 5);
  CHECK(limited.limits[0].terms == &fixture.config.limiter.policies[0]);
  put(Override::Kind::denied);
  CHECK(fixture.decide_as("internal").outcome == Outcome::forbidden);
  put(Override::Kind::unlimited);
  CHECK(fixture.decide_as("internal").limits.empty());
}

TEST_CASE("without the store a client whose plan is unlimited passes") {
  PlanFixture fixture;
  Policy denying = planned_policy("p", 3);
  denying.on_failure = OnFailure::deny;
  fixture.limit(denying, 0);
  CHECK(fixture.decide_as("internal").outcome == Outcome::unlimited);
  CHECK(fixture.evaluation.claims[0].on_failure == OnFailure::allow);
  fixture.decide_as("gold");
  CHECK(fixture.evaluation.claims[0].on_failure == OnFailure::deny);
}

TEST_CASE("the plan is looked for only if a limit depends on it") {
  PlanFixture fixture;
  fixture.limit(policy("p", gcra(3, 1h)), 0);
  CHECK(fixture.decide_as("gold").plan == nullptr);
  fixture.route.limits[0].when = Condition{.plans = {gold}};
  CHECK(*fixture.decide_as("gold").plan == "gold");
  CHECK(fixture.decide_as("platinum").outcome == Outcome::unlimited);
  CHECK(fixture.unknown.count() == 1);
}

TEST_CASE("a field names a plan only if the peer is trusted") {
  PlanFixture fixture;
  fixture.limit(planned_policy("p", 3), 0);
  fixture.header("x-plan", " gold ");
  CHECK(fixture.decide_trusted(false).plan == nullptr);
  CHECK(*fixture.decide_trusted().plan == "gold");
}

TEST_CASE("the first source that names a plan counts, and an unknown name is the default") {
  PlanFixture fixture;
  fixture.limit(planned_policy("p", 3), 0);
  fixture.config.limiter.plans.default_plan = internal;
  fixture.config.limiter.plans.sources = {
      {fixture.file(2, {{"ann", gold}, {"bob", PlanTable::unknown}})}, {PlanFromHeader{"x-plan"}}};
  struct Row {
    const char* query;
    const char* field;
    const char* plan;
    bool is_unknown;
  };
  const auto row = GENERATE(values<Row>({
      {"user=ann", "free", "gold", false},
      {"user=bob", "free", "internal", true},
      {"user=carl", "free", "free", false},
      {"user=carl", "platinum", "internal", true},
      {"user=carl", "", "internal", false},
      {"", "gold", "gold", false},
  }));
  CAPTURE(row.query, row.field);
  fixture.request.query = row.query;
  const Verdict verdict = fixture.decide_as(row.field);
  REQUIRE(verdict.plan != nullptr);
  CHECK(*verdict.plan == row.plan);
  CHECK(fixture.unknown.count() == (row.is_unknown ? 1 : 0));
}

TEST_CASE("a plan that services may read differently refuses the request") {
  PlanFixture fixture;
  Limit& limit = fixture.limit(planned_policy("p", 3), 0);
  fixture.config.limiter.plans.sources = {{fixture.file(2, {{"ann", gold}})}};
  fixture.request.query = "user=ann&user=bob";
  CHECK(fixture.decide().outcome == Outcome::identity_ambiguous);
  fixture.config.limiter.policies[0].planned.clear();
  CHECK(fixture.decide().outcome == Outcome::allowed);
  limit.unless = Condition{.plans = {gold}};
  CHECK(fixture.decide().outcome == Outcome::identity_ambiguous);
  fixture.config.limiter.policies[0].shadow = true;
  CHECK(fixture.decide().outcome == Outcome::unlimited);
}

TEST_CASE("readings of a path with different plans are both charged") {
  PlanFixture fixture;
  fixture.config.limiter.identities.push_back({.name = "path", .source = {identity::FromPath{}}});
  fixture.limit(planned_policy("p", 3), 0);
  fixture.config.limiter.plans.sources = {{fixture.file(3, {{"/search", gold}})}};
  auto routes = fixture.routes();
  routes.push_back(routes[0]);
  const identity::Evidence other{.request = fixture.request,
                                 .path = "/other",
                                 .client = fixture.client,
                                 .path_parameters = {},
                                 .client_options = fixture.config.proxy.client_address};
  fixture.limiter = std::make_unique<Limiter>(fixture.config.limiter, fixture.store);
  boost::container::static_vector<RouteEvidence, 2> both;
  both.push_back(routes[0]);
  both.push_back({routes[0].limits, other});
  const Verdict& verdict = fixture.decided(both);
  REQUIRE(verdict.limits.size() == 2);
  CHECK(verdict.limits[0].decision.limit == 6);
  CHECK(verdict.limits[1].decision.limit == 3);
  CHECK(*verdict.plan == "gold");
  CHECK(fixture.decided(routes).limits.size() == 1);
}

TEST_CASE("of an unlimited reading and a limited one, the limited one counts") {
  const bool is_held = GENERATE(false, true);
  for (const auto& [first, second] : {std::pair{"/search", "/other"}, {"/other", "/search"}}) {
    CAPTURE(first, is_held);
    PlanFixture fixture;
    fixture.config.limiter.identities.push_back({.name = "path", .source = {identity::FromPath{}}});
    Limit& limit = fixture.limit(planned_policy("p", 3), 0);
    if (is_held) limit.charge = Charge{.by_status = ChargeByStatus{.statuses = {{401, 401}}}};
    fixture.config.limiter.plans.sources = {{fixture.file(3, {{"/search", internal}})}};
    const auto reading = [&](const char* path) {
      return identity::Evidence{.request = fixture.request,
                                .path = path,
                                .client = fixture.client,
                                .path_parameters = {},
                                .client_options = fixture.config.proxy.client_address};
    };
    const identity::Evidence one = reading(first);
    const identity::Evidence other = reading(second);
    boost::container::static_vector<RouteEvidence, 2> both;
    both.push_back({fixture.route.limits, one});
    both.push_back({fixture.route.limits, other});
    fixture.limiter = std::make_unique<Limiter>(fixture.config.limiter, fixture.store);
    const Verdict& verdict = fixture.decided(both);
    REQUIRE(verdict.limits.size() == 1);
    CHECK(verdict.limits[0].decision.remaining == 2);
    CHECK_FALSE(fixture.evaluation.claims[0].is_exempt);
    CHECK(fixture.evaluation.claims[0].holds == is_held);
    CHECK(fixture.evaluation.has_holds == is_held);
  }
}

TEST_CASE("names of plans are found among many") {
  Plans plans;
  for (int i = 0; i < 1'000; ++i)
    plans.names.push_back("plan-" + std::to_string(i * 7 % 1'000));
  plans.index_names();
  for (std::size_t i = 0; i < plans.names.size(); ++i)
    REQUIRE(plans.find(plans.names[i]) == i);
  CHECK_FALSE(plans.find("plan-1000"));
  CHECK_FALSE(plans.find(""));
}

}  // namespace weir::limiter::test
