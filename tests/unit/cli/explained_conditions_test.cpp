#include "catch.hpp"
#include "cli/explanation.hpp"
#include "limiter/claims.hpp"
#include "unit/cli/explained.hpp"
#include "unit/http/request_of.hpp"

namespace weir::cli {
namespace {

constexpr auto conditional_yaml = R"(
address_lists: {office: [192.0.2.0/24], hidden: ["198.51.100.${N}"]}
identities: {user: {query: user}}
plans: {free: {p: {rate: 5/1s}}, gold: {p: unlimited}}
plan_from: [{header: x-plan}]
client_address: {trusted_proxies: [10.0.0.1]}
policies: {p: {rate: 1/1s}}
routes:
  - {match: {path: /0}, respond: {status: 200}, limits: [{policy: p}]}
  - match: {path: /1}
    respond: {status: 200}
    limits: [{policy: p, when: {methods: [GET, PUT], identity: user}}]
  - match: {path: /2}
    respond: {status: 200}
    limits: [{policy: p, when: {address: office}, unless: {methods: [PUT]}}]
  - {match: {path: /3}, respond: {status: 200}, limits: [{policy: p, unless: {plan: [gold]}}]}
  - {match: {path: /4}, respond: {status: 200}, limits: [{policy: p, when: {address: hidden}}]}
)";

/// A request from a trusted proxy, and the conditions of a limit for it.
struct ConditionsFixture {
  explicit ConditionsFixture(const char* address = "192.0.2.7", const char* method = "GET",
                             const char* query = "", const char* plan = "free")
      : client(IpAddress::parse(address).value()), request({{"X-Plan", plan}}, method) {
    request.view.query = query;
  }
  identity::Evidence evidence() const {
    return {.request = request.view,
            .path = "/",
            .client = client,
            .path_parameters = {},
            .client_options = config->proxy.client_address,
            .peer_is_trusted = true};
  }
  /// Those of the only limit of a route.
  struct Conditions {
    std::vector<ExplainedCondition> conditions;
    std::string because;
    bool are_met = false;
  };
  Conditions of(std::size_t route) {
    trace = {};
    limiter::Evaluation evaluation;
    const limiter::RouteEvidence one{config->proxy.routes[route].limits, evidence()};
    claims.make({&one, 1}, evaluation, Instant{}, &trace);
    const limiter::TracedLimit& traced = trace.limits.at(0);
    Conditions found;
    found.are_met = traced.fate == limiter::Fate::claimed;
    found.because = explain_conditions(*config, traced, trace.plan.value_or(limiter::PlanReading{}),
                                       client, found.conditions);
    return found;
  }
  ExplainedPlan plan() {
    of(3);
    return explain_plan(*config, *trace.plan);
  }

  std::shared_ptr<const config::Config> config = loaded_config(conditional_yaml);
  IpAddress client;
  http::RequestOf request;
  std::vector<limiter::PolicyRecord> records{
      {.counters = std::make_shared<limiter::PolicyCounters>()}};
  limiter::ClaimMaker claims{config->limiter, records, {}, nullptr};
  limiter::Trace trace;
};

TEST_CASE("a limit without conditions applies for no reason") {
  const auto none = ConditionsFixture().of(0);
  CHECK(none.are_met);
  CHECK(none.conditions.empty());
  CHECK(none.because.empty());
}

TEST_CASE("the reason of when is what holds, or the first part that does not") {
  const struct {
    const char* method;
    const char* query;
    bool are_met;
    std::string because;
  } rows[] = {
      {"GET", "user=a", true, "when: method is listed, user is present"},
      {"POST", "user=a", false, "when: method is not listed"},
      {"PUT", "", false, "when: user is absent"},
      {"PUT", "user=a&user=b", false, "when: user is ambiguous"},
  };
  for (const auto& [method, query, are_met, because] : rows) {
    CAPTURE(method, query);
    const auto found = ConditionsFixture("192.0.2.7", method, query).of(1);
    CHECK(found.are_met == are_met);
    CHECK(found.because == because);
    REQUIRE(found.conditions.size() == 1);
    CHECK(found.conditions[0].name == "when");
    CHECK(found.conditions[0].holds == are_met);
  }
}

TEST_CASE("a condition that decides is the last") {
  const auto met = ConditionsFixture("192.0.2.7").of(2);
  CHECK(met.are_met);
  CHECK(met.because ==
        "when: client address is in office (192.0.2.0/24), unless: method is not listed");
  REQUIRE(met.conditions.size() == 2);
  REQUIRE(met.conditions[0].address.has_value());
  CHECK(met.conditions[0].address->list == "office");
  CHECK_FALSE(met.conditions[1].holds);

  const auto excluded = ConditionsFixture("192.0.2.7", "PUT").of(2);
  CHECK_FALSE(excluded.are_met);
  CHECK(excluded.because == "unless: method is listed");
  CHECK(excluded.conditions.size() == 2);

  const auto elsewhere = ConditionsFixture("203.0.113.1", "PUT").of(2);
  CHECK_FALSE(elsewhere.are_met);
  CHECK(elsewhere.because == "when: client address is not in office");
  REQUIRE(elsewhere.conditions.size() == 1);
  CHECK_FALSE(elsewhere.conditions[0].address.has_value());
}

TEST_CASE("conditions name the plan of the request") {
  const auto free = ConditionsFixture().of(3);
  CHECK(free.are_met);
  CHECK(free.because == "unless: plan free is not listed");
  const auto gold = ConditionsFixture("192.0.2.7", "GET", "", "gold").of(3);
  CHECK_FALSE(gold.are_met);
  CHECK(gold.because == "unless: plan gold is listed");
  CHECK(ConditionsFixture("192.0.2.7", "GET", "", "none").of(3).because ==
        "unless: no plan is in force");
}

TEST_CASE("a prefix from a variable is not shown") {
  const auto found = ConditionsFixture("198.51.100.77").of(4);
  CHECK(found.are_met);
  REQUIRE(found.conditions.size() == 1);
  REQUIRE(found.conditions[0].address.has_value());
  CHECK(found.conditions[0].address->prefix == config::from_environment);
  CHECK(found.because.find("77") == std::string::npos);
}

TEST_CASE("a plan is explained with its source") {
  ConditionsFixture of_gold("192.0.2.7", "GET", "", "gold");
  const ExplainedPlan gold = of_gold.plan();  // views the configuration
  CHECK(gold.name == "gold");
  CHECK(gold.from.find("x-plan") != std::string::npos);
  ConditionsFixture of_none("192.0.2.7", "GET", "", "none");
  const ExplainedPlan unknown = of_none.plan();
  CHECK(unknown.name.empty());
  CHECK(unknown.from == gold.from + " names an unknown plan");
}

}  // namespace
}  // namespace weir::cli
