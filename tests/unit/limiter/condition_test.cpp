// Conditions of a limit: which part does not hold, and what the limiter does with it.
#include "limiter/condition.hpp"

#include <string>

#include "catch.hpp"
#include "identity/token_readings.hpp"
#include "unit/limiter/request_fixture.hpp"

namespace weir::limiter::test {
namespace {

AddressList office() {
  return {"office", PrefixTable({IpPrefix::parse("192.0.2.0/24").value()})};
}
AddressList elsewhere() {
  return {"elsewhere", PrefixTable({IpPrefix::parse("198.51.100.0/24").value()})};
}

}  // namespace

TEST_CASE("the first part of a condition that does not hold is found") {
  using Part = ConditionPart;
  struct Row {
    Condition condition;
    const char* method;
    const char* query;
    Part unmet;
  };
  // The client is 192.0.2.1. Identity 0 is its address, 2 the query parameter user.
  const auto row = GENERATE(values<Row>({
      // One part.
      {{.address = office()}, "GET", "", Part::none},
      {{.address = elsewhere()}, "GET", "", Part::address},
      {{.methods = {"GET"}}, "GET", "", Part::none},
      {{.methods = {"GET"}}, "HEAD", "", Part::none},
      {{.methods = {"HEAD"}}, "GET", "", Part::methods},
      {{.methods = {"PUT", "POST"}}, "POST", "", Part::none},
      {{.methods = {"PUT", "POST"}}, "DELETE", "", Part::methods},
      {{.identity = 0}, "GET", "", Part::none},
      {{.identity = 2}, "GET", "user=a", Part::none},
      {{.identity = 2}, "GET", "user=", Part::identity},
      {{.identity = 2}, "GET", "user=a&user=b", Part::ambiguous},
      // All that is named must hold, and the identity is read last.
      {{.address = office(), .methods = {"GET"}, .identity = 2}, "GET", "user=a", Part::none},
      {{.address = office(), .methods = {"GET"}, .identity = 2}, "GET", "", Part::identity},
      {{.address = office(), .methods = {"PUT"}, .identity = 2}, "GET", "", Part::methods},
      {{.address = elsewhere(), .methods = {"PUT"}, .identity = 2}, "GET", "", Part::address},
      {{.methods = {"PUT"}, .identity = 2}, "GET", "user=a&user=b", Part::methods},
      {{.plans = {0, 1}}, "GET", "", Part::none},
      {{.plans = {0, 2}}, "GET", "", Part::plan},
      {{.identity = 2, .plans = {0}}, "GET", "", Part::identity},
      {{.methods = {"PUT"}, .plans = {0}}, "GET", "", Part::methods},
  }));
  Fixture fixture;
  fixture.request.method = row.method;
  fixture.request.query = row.query;
  CAPTURE(row.method, row.query);
  const identity::Evidence evidence = fixture.evidence();
  identity::TokenReadings tokens{{}, {}};
  const auto resolve = [&](std::size_t index) {
    const auto& config = fixture.config;
    return identity::resolve(config.limiter.identities[index].source, evidence,
                             config.limiter.identity_key, tokens);
  };
  const auto plan = [&] { return PlanReading{.state = PlanReading::State::found, .plan = 1}; };
  CHECK(first_unmet(row.condition, evidence, resolve, plan) == row.unmet);
}

TEST_CASE("a limit applies when its conditions let it, and is not charged otherwise") {
  struct Row {
    std::optional<Condition> when;
    std::optional<Condition> unless;
    bool applies;
  };
  const Condition holds{.address = office()};
  const Condition fails{.address = elsewhere()};
  const auto row = GENERATE_COPY(values<Row>({
      {holds, std::nullopt, true},
      {fails, std::nullopt, false},
      {std::nullopt, holds, false},
      {std::nullopt, fails, true},
      {holds, fails, true},
      {holds, holds, false},
      {fails, fails, false},
      {fails, holds, false},
  }));
  Fixture fixture;
  Limit& limit = fixture.limit(policy("p", gcra(1, 1h)), 0);
  limit.when = row.when;
  limit.unless = row.unless;
  const Verdict verdict = fixture.decide();
  CHECK(verdict.outcome == (row.applies ? Outcome::allowed : Outcome::unlimited));
  CHECK(verdict.limits.size() == (row.applies ? 1 : 0));
  CHECK(fixture.store.keys() == (row.applies ? 1 : 0));
  CHECK(fixture.decide().outcome == (row.applies ? Outcome::denied : Outcome::unlimited));
}

TEST_CASE("a limit that does not apply requires no identity, and the others of its route apply") {
  Fixture fixture;
  Limit& limit = fixture.limit(policy("per_key", gcra(1, 1h)), 1);
  limit.required = true;
  limit.unless = Condition{.address = office()};
  fixture.limit(policy("per_client", gcra(2, 1h)), 0);
  const Verdict verdict = fixture.decide();
  REQUIRE(verdict.limits.size() == 1);
  CHECK(verdict.limits[0].policy->name == "per_client");
  fixture.client = IpAddress::v4({203, 0, 113, 1});
  CHECK(fixture.decide().outcome == Outcome::identity_required);
}

TEST_CASE("the whole address counts, whatever the prefixes that cut identities") {
  Fixture fixture;
  fixture.config.proxy.client_address.ipv4_prefix = 8;
  fixture.limit(policy("p", gcra(1, 1h)), 0).unless = Condition{.address = office()};
  CHECK(fixture.decide().outcome == Outcome::unlimited);
  fixture.client = IpAddress::v4({192, 0, 3, 1});
  CHECK(fixture.decide().outcome == Outcome::allowed);
}

TEST_CASE("a condition on an ambiguous identity refuses the request, except in shadow mode") {
  Fixture fixture;
  Limit& limit = fixture.limit(policy("p", gcra(1, 1h)), 0);
  fixture.request.query = "user=a&user=b";
  SECTION("when") {
    limit.when = Condition{.identity = 2};
  }
  SECTION("unless") {
    limit.unless = Condition{.identity = 2};
  }
  const Verdict verdict = fixture.decide();
  CHECK(verdict.outcome == Outcome::identity_ambiguous);
  CHECK(describe(verdict.ambiguity).starts_with("the query parameter \"user\""));
  CHECK(fixture.store.keys() == 0);
  fixture.config.limiter.policies[0].shadow = true;
  CHECK(fixture.decide().outcome == Outcome::unlimited);
}

}  // namespace weir::limiter::test
