// The claims of a request, and the trace of how its limits came to apply.
#include "limiter/claims.hpp"

#include "catch.hpp"
#include "unit/limiter/request_fixture.hpp"

namespace weir::limiter::test {
namespace {

/// Has the claims of one request made, with and without a trace.
struct Claiming : Fixture {
  void make() {
    std::vector<PolicyRecord> records(config.limiter.policies.size());
    for (std::size_t i = 0; i < records.size(); ++i)
      records[i] = {.id = static_cast<std::uint32_t>(i),
                    .counters = std::make_shared<PolicyCounters>()};
    ClaimMaker claims(config.limiter, records, {}, nullptr);
    Evaluation untraced;
    const bool is_made = claims.make(routes(), untraced, epoch);
    evaluation.clear();
    trace = {};
    made = claims.make(routes(), evaluation, epoch, &trace);
    CHECK(made == is_made);
    CHECK(evaluation.claims.size() == untraced.claims.size());
  }
  Fate fate(std::size_t limit) const { return trace.limits.at(limit).fate; }

  Trace trace;
  bool made = false;
};

const Policy a_policy = policy("a", gcra(5, 1s));

}  // namespace

TEST_CASE("Each limit of a request has a fate") {
  Claiming one;
  SECTION("claimed") {
    one.limit(a_policy, 0);
    one.make();
    CHECK(one.fate(0) == Fate::claimed);
    CHECK(one.trace.limits[0].claim == 0);
    REQUIRE(one.trace.limits[0].identities.size() == 1);
    CHECK(one.trace.limits[0].identities[0].resolution.key == one.evaluation.claims[0].identity);
  }
  SECTION("claimed by the second identity") {
    one.limit(a_policy, 1).otherwise = 0;
    one.make();
    CHECK(one.fate(0) == Fate::claimed);
    REQUIRE(one.trace.limits[0].identities.size() == 2);
    CHECK(one.trace.limits[0].identities[1].index == 0);
  }
  SECTION("not a limit of a preflight request") {
    one.limit(a_policy, 0);
    one.request.method = "OPTIONS";
    one.fields.push_back({.id = http::FieldId::access_control_request_method,
                          .name = "Access-Control-Request-Method",
                          .value = "PUT"});
    one.request.fields = one.fields;
    one.make();
    CHECK(one.fate(0) == Fate::preflight);
  }
  SECTION("by a condition") {
    one.limit(a_policy, 0).when = Condition{.methods = {"POST"}};
    one.make();
    CHECK(one.fate(0) == Fate::condition);
    REQUIRE(one.trace.limits[0].conditions.size() == 1);
    CHECK(one.trace.limits[0].conditions[0].is_when);
    CHECK(one.trace.limits[0].conditions[0].unmet == ConditionPart::methods);
    CHECK_FALSE(one.trace.limits[0].conditions[0].holds);
  }
  SECTION("without the identity") {
    one.limit(a_policy, 1);
    one.make();
    CHECK(one.fate(0) == Fate::identity_absent);
    CHECK(one.made);
  }
  SECTION("refused without the identity; later limits are not evaluated") {
    one.limit(a_policy, 1).required = true;
    one.limit(policy("b", gcra(5, 1s)), 0);
    one.make();
    CHECK(one.fate(0) == Fate::required);
    CHECK(one.trace.limits.size() == 1);
    CHECK_FALSE(one.made);
    CHECK(one.evaluation.verdict.outcome == Outcome::identity_required);
  }
  SECTION("ambiguous") {
    one.limit(a_policy, 2);
    one.request.query = "user=1&user=2";
    one.make();
    CHECK(one.fate(0) == Fate::ambiguous);
    CHECK_FALSE(one.made);
  }
  SECTION("ambiguous, of a shadow policy") {
    one.limit(a_policy, 2);
    one.config.limiter.policies[0].shadow = true;
    one.request.query = "user=1&user=2";
    one.make();
    CHECK(one.fate(0) == Fate::ambiguous);
    CHECK(one.made);
  }
  SECTION("merged with the limit of another route") {
    one.limit(a_policy, 0).cost = 2;
    options::Route& other = one.other_routes.emplace_back();
    other.limits = one.route.limits;
    other.limits[0].cost = 3;
    one.make();
    CHECK(one.fate(1) == Fate::merged);
    CHECK(one.trace.limits[1].route == 1);
    CHECK(one.trace.limits[1].claim == 0);
    CHECK(one.evaluation.claims[0].demand.cost == 3);
  }
}

TEST_CASE("The trace has the plan, and the terms that it sets") {
  Claiming one;
  one.limit(a_policy, 0);
  one.config.limiter.plans.names = {"gold"};
  one.config.limiter.plans.default_plan = 0;
  one.config.limiter.plans.index_names();
  one.config.limiter.policies[0].planned = {{.plan = 0, .terms = policy("", gcra(9, 1s))}};
  one.make();
  REQUIRE(one.trace.plan);
  CHECK(one.trace.plan->found() == 0);
  CHECK(one.trace.limits.at(0).planned == &one.config.limiter.policies[0].planned[0]);
  CHECK(one.evaluation.claims.at(0).policy ==
        &one.config.limiter.policies[0].planned[0].terms.numbers);
}

TEST_CASE("A trace has all limits up to the one that refuses a request for too many") {
  Claiming one;
  for (std::size_t i = 0; i <= limits_per_route; ++i)
    one.limit(policy("p", gcra(5, 1s)), 0);
  one.make();
  CHECK_FALSE(one.made);
  CHECK(one.trace.limits.size() == limits_per_route + 1);
  CHECK(one.fate(limits_per_route) == Fate::too_many);
  CHECK(one.evaluation.verdict.outcome == Outcome::too_many_limits);
}

TEST_CASE("A stated claim has the terms of its policy, or its own") {
  Claiming one;
  one.limit(a_policy, 0);
  one.config.limiter.policies[0].shadow = true;
  one.config.limiter.policies[0].lease = true;
  const std::vector<PolicyRecord> records{
      {.id = 7, .revision = 3, .counters = std::make_shared<PolicyCounters>()}};
  const ClaimMaker claims(one.config.limiter, records, {}, nullptr);
  const StatedTerms terms{.terms = policy("other", gcra(9, 1s)),
                          .local = {policy("share", gcra(2, 1s)).numbers, OnFailure::deny},
                          .revision = 5};
  const Hash128 key{.low = 1, .high = 2};
  claims.add({.policy = 0, .identity_index = 1, .identity = key, .cost = 4}, one.evaluation);
  claims.add({.policy = 0, .identity = key, .terms = &terms}, one.evaluation);
  const auto& [own, stated] = std::tie(one.evaluation.claims.at(0), one.evaluation.claims.at(1));
  CHECK(own.policy == &one.config.limiter.policies[0].numbers);
  CHECK(own.identity == key);
  CHECK(own.policy_id == 7);
  CHECK(own.policy_revision == 3);
  CHECK(own.demand.cost == 4);
  CHECK(own.shadow);
  CHECK(own.lease != nullptr);
  CHECK(one.evaluation.policies.at(0).identity == 1);
  CHECK(stated.policy == &terms.terms.numbers);
  CHECK(stated.local_policy == &terms.local.numbers);
  CHECK(stated.on_failure == OnFailure::deny);
  CHECK(stated.policy_revision == 8);
  CHECK(stated.lease == nullptr);
  CHECK(one.evaluation.policies.at(1).terms == &terms.terms);
}

TEST_CASE("A stated claim has the terms of the plan of its identity") {
  Claiming one;
  one.limit(a_policy, 0);
  Plans& plans = one.config.limiter.plans;
  plans.names = {"free", "paid", "partner"};
  plans.index_names();
  plans.default_plan = 0;
  const Hash128 paid{.low = 1}, partner{.low = 2};
  PlanTable table(2);
  table.add(paid, 1);
  table.add(partner, 2);
  plans.sources.push_back(
      {PlanFromFile{.identity = 1, .shown = "plans.tsv", .table = Replaceable(std::move(table))}});
  Policy& own = one.config.limiter.policies[0];
  own.planned = {{.plan = 1, .terms = policy("", gcra(9, 1s))},
                 {.plan = 2, .unlimited = true, .terms = {}}};
  const std::vector<PolicyRecord> records{
      {.id = 7, .revision = 3, .counters = std::make_shared<PolicyCounters>()}};
  const ClaimMaker claims(one.config.limiter, records, {}, nullptr);
  claims.add({.policy = 0, .identity_index = 1, .identity = paid}, one.evaluation);
  claims.add({.policy = 0, .identity_index = 1, .identity = partner}, one.evaluation);
  claims.add({.policy = 0, .identity_index = 1, .identity = {.low = 3}}, one.evaluation);
  claims.add({.policy = 0, .identity_index = 2, .identity = paid}, one.evaluation);
  const auto& made = one.evaluation.claims;
  CHECK(made.at(0).policy == &own.planned[0].terms.numbers);
  CHECK(made.at(0).policy_revision == 4);
  CHECK(made.at(1).is_exempt);
  CHECK(made.at(1).on_failure == OnFailure::allow);
  CHECK(made.at(2).policy == &own.numbers);
  CHECK(made.at(3).policy == &own.numbers);
}

}  // namespace weir::limiter::test
