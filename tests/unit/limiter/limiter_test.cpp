#include "limiter/limiter.hpp"

#include "catch.hpp"
#include "unit/limiter/request_fixture.hpp"

namespace weir::limiter::test {

TEST_CASE("A route without limits is unlimited") {
  Fixture fixture;
  const Verdict verdict = fixture.decide();
  CHECK(verdict.outcome == Outcome::unlimited);
  CHECK(verdict.limits.empty());
  CHECK(verdict.deciding == nullptr);
}

TEST_CASE("Limiters of several configurations share what belongs to a policy, by its id") {
  const auto counters = std::make_shared<PolicyCounters>();
  Fixture before;
  before.limit(policy("p", gcra(3, 1h)), 0);
  before.limiter =
      std::make_unique<Limiter>(before.config.limiter, before.store, Decider::memory,
                                std::vector<PolicyRecord>{{.id = 7, .counters = counters}});
  CHECK(before.decide().limits[0].decision.remaining == 2);

  Fixture after;
  after.limit(policy("first", gcra(9, 1h)), 0);
  after.limit(policy("p", gcra(3, 1h)), 0);
  after.limiter = std::make_unique<Limiter>(
      after.config.limiter, before.store, Decider::memory,
      std::vector<PolicyRecord>{{.id = 8, .counters = std::make_shared<PolicyCounters>()},
                                {.id = 7, .counters = counters}});
  const Verdict verdict = after.decide();
  CHECK(verdict.limits[0].decision.remaining == 8);
  CHECK(verdict.limits[1].decision.remaining == 1);
  CHECK(counters->allowed.value() == 2);
}

TEST_CASE("A limit whose identity is absent does not apply, falls back or answers 401") {
  Fixture fixture;
  auto& limit = fixture.limit(policy("per_key", gcra(1, 1s)), 1);
  SECTION("absent: it does not apply") {
    CHECK(fixture.decide().outcome == Outcome::unlimited);
    CHECK(fixture.store.keys() == 0);
  }
  SECTION("absent and required: 401, nothing charged") {
    limit.required = true;
    fixture.limit(policy("per_client", gcra(1, 1s)), 0);
    CHECK(fixture.decide().outcome == Outcome::identity_required);
    CHECK(fixture.store.keys() == 0);
    fixture.header("x-api-key", "secret");
    CHECK(fixture.decide().outcome == Outcome::allowed);
  }
  SECTION("absent with otherwise: the other identity, apart from the first") {
    limit.otherwise = 0;
    CHECK(fixture.decide().outcome == Outcome::allowed);
    CHECK(fixture.decide().outcome == Outcome::denied);
    fixture.header("x-api-key", "secret");
    CHECK(fixture.decide().outcome == Outcome::allowed);
  }
  SECTION("both absent and required: 401") {
    limit.otherwise = 2;
    limit.required = true;
    CHECK(fixture.decide().outcome == Outcome::identity_required);
  }
}

TEST_CASE("An ambiguous identity is refused, and nothing is charged") {
  Fixture fixture;
  fixture.limit(policy("per_client", gcra(1, 1s)), 0);
  auto& limit = fixture.limit(policy("per_user", gcra(1, 1s)), 2);
  fixture.request.query = "user=a&user=b";
  const auto check_refused = [&] {
    const Verdict verdict = fixture.decide();
    CHECK(verdict.outcome == Outcome::identity_ambiguous);
    CHECK(verdict.limits.empty());
    CHECK(describe(verdict.ambiguity).starts_with("the query parameter \"user\""));
    CHECK(fixture.store.keys() == 0);
  };
  SECTION("as the key") {
    check_refused();
    fixture.request.query = "user=a";
    CHECK(fixture.decide().outcome == Outcome::allowed);
  }
  SECTION("as the key, in whose place no other identity is taken") {
    limit.otherwise = 0;
    check_refused();
  }
  SECTION("as what is used otherwise, if that is read") {
    limit.identity = 1;
    limit.otherwise = 2;
    check_refused();
    fixture.header("x-api-key", "secret");
    CHECK(fixture.decide().outcome == Outcome::allowed);
  }
  SECTION("as an attribute") {
    limit.identity = 0;
    fixture.config.limiter.policies[0].attributes = {{.kind = Attribute::Kind::query,
                                                      .text = "query:user",
                                                      .name = "user",
                                                      .source = {identity::FromQuery{"user"}}}};
    check_refused();
  }
}

TEST_CASE("An identity that several limits use is resolved once for each request") {
  Fixture fixture;
  fixture.limit(policy("short", gcra(2, 1s)), 1);
  fixture.limit(policy("long", gcra(3, 60s)), 1);
  fixture.header("x-api-key", "first");
  const Hash128 first = fixture.decide().limits[0].identity;
  CHECK(fixture.decide().limits[1].identity == first);
  fixture.fields[0].value = "second";
  const Verdict second = fixture.decide();
  CHECK(second.limits[0].identity != first);
  CHECK(second.limits[0].identity == second.limits[1].identity);
  CHECK(second.limits[0].decision.remaining == 1);
}

TEST_CASE("A CORS preflight request is limited only by policies that charge it") {
  Fixture fixture;
  fixture.limit(policy("plain", gcra(1, 1h)), 0);
  fixture.limit(policy("with_key", gcra(1, 1h)), 1).required = true;
  fixture.request.method = "OPTIONS";
  SECTION("it has the method and the field") {
    fixture.fields.push_back({.id = http::FieldId::access_control_request_method,
                              .name = "Access-Control-Request-Method",
                              .value = "PUT"});
    fixture.request.fields = fixture.fields;
    for (int i = 0; i < 3; ++i)
      CHECK(fixture.decide().outcome == Outcome::unlimited);
    fixture.config.limiter.policies[0].charges_preflight = true;
    CHECK(fixture.decide().outcome == Outcome::allowed);
    const Verdict denied = fixture.decide();
    CHECK(denied.outcome == Outcome::denied);
    CHECK(denied.limits.size() == 1);
    fixture.request.method = "PUT";
    CHECK(fixture.decide().outcome == Outcome::identity_required);
  }
  SECTION("OPTIONS alone is none") {
    CHECK(fixture.decide().outcome == Outcome::identity_required);
  }
}

TEST_CASE("Cost and overdraft are the limit's") {
  Fixture fixture;
  auto& limit = fixture.limit(policy("per_client", gcra(5, 5s)), 0);
  limit.cost = 3;
  CHECK(fixture.decide().limits[0].decision.remaining == 2);
  CHECK(fixture.decide().outcome == Outcome::denied);
  CHECK(fixture.decide().limits[0].cost == 3);
  limit.overdraft = true;
  const Verdict forced = fixture.decide();
  CHECK(forced.outcome == Outcome::allowed);
  CHECK(forced.limits[0].decision.remaining == 0);
}

TEST_CASE("Several limits decide together, and the closest to exhaustion is reported") {
  Fixture fixture;
  fixture.limit(policy("wide", gcra(10, 10s)), 0);
  fixture.limit(policy("narrow", gcra(2, 60s)), 0);
  const Verdict first = fixture.decide();
  CHECK(first.outcome == Outcome::allowed);
  REQUIRE(first.limits.size() == 2);
  CHECK(first.limits[0].policy == &fixture.config.limiter.policies[0]);
  CHECK(first.limits[0].decision.remaining == 9);
  CHECK(first.deciding == &fixture.config.limiter.policies[1]);
  CHECK_FALSE(first.retry_after);

  fixture.decide();
  const Verdict denied = fixture.decide();
  CHECK(denied.outcome == Outcome::denied);
  CHECK(denied.deciding == &fixture.config.limiter.policies[1]);
  CHECK(denied.retry_after == Duration{30s});
  CHECK(denied.limits[0].decision.allowed);
  CHECK(denied.limits[0].decision.remaining == 8);
}

TEST_CASE("Retry-After is the latest of the violated policies, or never") {
  Fixture fixture;
  fixture.limit(policy("short", gcra(1, 1s)), 0);
  fixture.limit(policy("long", gcra(1, 60s)), 0);
  fixture.limit(policy("watched", gcra(1, 3'600s)), 0);
  fixture.config.limiter.policies[2].shadow = true;
  fixture.decide();
  const Verdict denied = fixture.decide();
  CHECK(denied.retry_after == Duration{60s});
  CHECK(denied.deciding == &fixture.config.limiter.policies[1]);
  CHECK(denied.shadow_denied);

  fixture.route.limits[0].cost = 2;
  const Verdict never = fixture.decide();
  CHECK(never.outcome == Outcome::denied);
  CHECK_FALSE(never.retry_after);
  CHECK(never.deciding == &fixture.config.limiter.policies[0]);
}

TEST_CASE("An allowed claim that counted the rejected request is waited for, too") {
  Fixture fixture;
  rules::Definition strict = gcra(1, 60s);
  strict.algorithm = rules::Algorithm::sliding_log;
  strict.count_rejected = true;
  fixture.limit(policy("per_client", gcra(1, 5s)), 0);
  fixture.limit(policy("per_key", strict), 1);
  fixture.header("x-api-key", "first");
  CHECK(fixture.decide().outcome == Outcome::allowed);
  fixture.fields[0].value = "second";
  const Verdict denied = fixture.decide();
  CHECK(denied.outcome == Outcome::denied);
  CHECK(denied.deciding == &fixture.config.limiter.policies[0]);
  CHECK(denied.retry_after == Duration{60s});
}

TEST_CASE("A shadow policy does not count a request whose identity is ambiguous") {
  Fixture fixture;
  auto shadowed = policy("shadowed", gcra(1, 1s));
  shadowed.shadow = true;
  fixture.limit(shadowed, 2).required = true;
  fixture.limit(policy("per_client", gcra(1, 1s)), 0);
  fixture.request.query = "user=a&user=b";
  SECTION("as the key") {}
  SECTION("as an attribute, of many routes that the request may be for") {
    fixture.route.limits[0].identity = 0;
    fixture.config.limiter.policies[0].attributes.assign(attribute_limit,
                                                         {.kind = Attribute::Kind::query,
                                                          .text = "query:user",
                                                          .name = "user",
                                                          .source = {identity::FromQuery{"user"}}});
    options::Route other;
    other.limits.assign(limits_per_route, fixture.route.limits[0]);
    fixture.other_routes = {other, other, other};
  }
  const Verdict verdict = fixture.decide();
  CHECK(verdict.outcome == Outcome::allowed);
  CHECK(verdict.limits.size() == 1);
  CHECK(fixture.store.keys() == 1);
  CHECK(fixture.decide().outcome == Outcome::denied);
}

TEST_CASE("A shadow policy neither denies nor delays nor decides") {
  Fixture fixture;
  rules::Definition smooth = gcra(1, 1s);
  smooth.algorithm = rules::Algorithm::leaky_bucket;
  smooth.queue = 1;
  smooth.max_delay = 10s;
  fixture.limit(policy("watched", smooth), 0);
  fixture.config.limiter.policies[0].shadow = true;
  CHECK(fixture.decide().deciding == nullptr);
  const Verdict delayed = fixture.decide();
  CHECK(delayed.outcome == Outcome::allowed);
  CHECK(delayed.delay == Duration{0});
  CHECK_FALSE(delayed.shadow_denied);
  const Verdict denied = fixture.decide();
  CHECK(denied.outcome == Outcome::allowed);
  CHECK(denied.shadow_denied);
  CHECK(fixture.counters(0).allowed.value() == 2);
  CHECK(fixture.counters(0).shadow_denied.value() == 1);
}

TEST_CASE("The longest queue is waited for") {
  Fixture fixture;
  rules::Definition smooth = gcra(1, 1s);
  smooth.algorithm = rules::Algorithm::leaky_bucket;
  smooth.queue = 2;
  smooth.max_delay = 10s;
  fixture.limit(policy("quick", smooth), 0);
  smooth.rates[0].per = 3s;
  fixture.limit(policy("slow", smooth), 0);
  CHECK(fixture.decide().delay == Duration{0});
  CHECK(fixture.decide().delay == Duration{3s});
  CHECK(fixture.decide(1s).delay == Duration{5s});
  const Verdict denied = fixture.decide(1s);
  CHECK(denied.outcome == Outcome::denied);
  CHECK(denied.delay == Duration{0});
  CHECK(denied.retry_after == Duration{2s});
  CHECK(fixture.counters(1).delayed.value() == 2);
  CHECK(fixture.counters(1).denied.value() == 1);
}

TEST_CASE("Every policy counts its own outcomes") {
  Fixture fixture;
  fixture.limit(policy("wide", gcra(10, 10s)), 0);
  fixture.limit(policy("narrow", gcra(1, 10s)), 0);
  for (int i = 0; i < 3; ++i)
    fixture.decide();
  CHECK(fixture.counters(0).allowed.value() == 3);
  CHECK(fixture.counters(0).denied.value() == 0);
  CHECK(fixture.counters(1).allowed.value() == 1);
  CHECK(fixture.counters(1).denied.value() == 2);
  CHECK(fixture.counters(1).delayed.value() == 0);
}

TEST_CASE("All routes that a request may be for are charged, what they share once") {
  Fixture fixture;
  fixture.limit(policy("wide", gcra(10, 10s)), 0);
  fixture.limit(policy("narrow", gcra(2, 10s)), 0).cost = 1;
  options::Route other;
  other.limits = {fixture.route.limits[1]};
  other.limits[0].cost = 2;
  fixture.config.limiter.policies.push_back(policy("third", gcra(1, 10s)));
  Limit third;
  third.policy = 2;
  other.limits.push_back(third);
  fixture.other_routes = {other};

  const Verdict first = fixture.decide();
  CHECK(first.outcome == Outcome::allowed);
  REQUIRE(first.limits.size() == 3);
  CHECK(first.limits[1].cost == 2);
  CHECK(first.limits[1].decision.remaining == 0);
  CHECK(first.limits[2].policy->name == "third");
  CHECK(fixture.decide().outcome == Outcome::denied);
  CHECK(fixture.counters(0).allowed.value() == 2);
  CHECK(fixture.counters(1).denied.value() == 1);
}

TEST_CASE(
    "A limit of another route may require an identity, and more limits than fit are refused") {
  Fixture fixture;
  fixture.limit(policy("p", gcra(10, 10s)), 0);
  options::Route other;
  other.limits.resize(limits_per_route);
  for (std::size_t i = 0; i < other.limits.size(); ++i) {
    fixture.config.limiter.policies.push_back(policy("q", gcra(10, 10s)));
    other.limits[i].policy = i + 1;
  }
  fixture.other_routes = {other};
  CHECK(fixture.decide().outcome == Outcome::too_many_limits);
  fixture.other_routes[0].limits.resize(1);
  fixture.other_routes[0].limits[0].identity = 1;
  fixture.other_routes[0].limits[0].required = true;
  const Verdict verdict = fixture.decide();
  CHECK(verdict.outcome == Outcome::identity_required);
  CHECK(verdict.route == 1);
}

TEST_CASE("An evaluation notes that an override decides a claim, also one that it exempts") {
  using store::Override;
  struct Row {
    std::optional<Override::Kind> kind;
    std::optional<std::size_t> policy;  ///< empty: all policies
    bool exempts_all;
  };
  const auto row = GENERATE(
      Row{std::nullopt, std::nullopt, false},  //
      Row{Override::Kind::numbers, 0, false}, Row{Override::Kind::denied, 0, false},
      Row{Override::Kind::unlimited, 0, false}, Row{Override::Kind::unlimited, std::nullopt, true});
  Fixture fixture;
  fixture.limit(policy("p", gcra(3, 1h)), 0);
  fixture.limit(policy("q", gcra(3, 1h)), 0);
  fixture.decide();
  CHECK_FALSE(fixture.evaluation.is_overridden);
  const auto& claims = fixture.evaluation.claims;
  if (row.kind) {
    Override entry{.kind = *row.kind, .numbers = policy("p", gcra(5, 1h)).numbers};
    if (row.policy) entry.policy_id = claims[*row.policy].policy_id;
    fixture.store.overrides().put(claims[0].identity, entry, epoch, [](const auto&) {});
  }
  CHECK(fixture.decide().limits.empty() == row.exempts_all);
  CHECK(fixture.evaluation.is_overridden == row.kind.has_value());
  fixture.client = IpAddress::v4({192, 0, 2, 2});
  fixture.decide();
  CHECK_FALSE(fixture.evaluation.is_overridden);
}

TEST_CASE("Claims that the caller has found are decided, and counted by the caller") {
  Fixture fixture;
  fixture.limit(policy("p", gcra(2, 1h)), 0);
  fixture.decide();
  const StatedClaim claims[] = {{.policy = 0, .identity = {.low = 1}, .cost = 2}};
  const auto decide = [&] { return fixture.decided(std::span<const StatedClaim>(claims)); };
  CHECK(decide().outcome == Outcome::allowed);
  CHECK(decide().outcome == Outcome::denied);
  CHECK(fixture.counters(0).allowed.value() == 1);  // of the route
  CHECK(fixture.counters(0).denied.value() == 0);
  fixture.limiter->count_outcomes(fixture.evaluation.verdict);
  CHECK(fixture.counters(0).denied.value() == 1);
  CHECK(fixture.decided(std::span<const StatedClaim>{}).outcome == Outcome::unlimited);
}

}  // namespace weir::limiter::test
