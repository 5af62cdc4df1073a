// Limits that need a claim of a token which is invalid, or cannot be verified yet.
#include "catch.hpp"
#include "limiter/limiter.hpp"
#include "unit/limiter/request_fixture.hpp"

namespace weir::limiter::test {
namespace {

/// Identity 3 `subject`: the claim of a token in X-Token.
struct TokenFixture : Fixture {
  TokenFixture() {
    identity::TokenProvider provider;
    provider.name = "idp";
    provider.place = identity::FromHeader{"x-token"};
    provider.rules.algorithms = {jwt::JwsAlgorithm::hs256};
    provider.rules.claims = {"sub"};
    provider.state->keys.publish(std::make_shared<const jwt::KeySet>());
    config.limiter.token_providers.push_back(std::move(provider));
    config.limiter.identities.push_back(
        {.name = "subject",
         .source = {identity::FromClaim{.provider = "idp",
                                        .claim = "sub",
                                        .token = config.limiter.token_providers[0].place}}});
  }
  static constexpr std::size_t subject = 3;
};

/// {"alg":"HS256"} and {"exp":32503680000,"sub":"a"}: well-formed; no key fits.
constexpr const char* unverified =
    "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjMyNTAzNjgwMDAwLCJzdWIiOiJhIn0.AAAA";

}  // namespace

TEST_CASE("An invalid token refuses the request after the other limits are charged") {
  TokenFixture fixture;
  fixture.limit(policy("per_user", gcra(9, 1h)), TokenFixture::subject);
  fixture.limit(policy("per_client", gcra(2, 1h)), 0);
  fixture.header("x-token", "x");
  for (const int remaining : {1, 0}) {
    const Verdict verdict = fixture.decide();
    CHECK(verdict.outcome == Outcome::token_invalid);
    CHECK(verdict.token_fault.rejection == jwt::Rejection::not_compact);
    CHECK(verdict.route == 0U);
    REQUIRE(verdict.limits.size() == 1);
    CHECK(verdict.limits[0].decision.remaining == remaining);
  }
  CHECK(fixture.decide().outcome == Outcome::denied);
  CHECK(fixture.store.keys() == 1);
}

TEST_CASE("An invalid token refuses a request that no other limit applies to") {
  TokenFixture fixture;
  auto& limit = fixture.limit(policy("per_user", gcra(9, 1h)), TokenFixture::subject);
  SECTION("as the key") {}
  SECTION("as the key, in whose place no other identity is taken") {
    limit.otherwise = 0;
  }
  SECTION("as the identity that is used otherwise") {
    limit.identity = 1;
    limit.otherwise = TokenFixture::subject;
  }
  SECTION("in a condition") {
    limit.identity = 0;
    limit.when = Condition{.identity = TokenFixture::subject};
  }
  SECTION("as an attribute") {
    limit.identity = 0;
    fixture.config.limiter.policies[0].attributes = {
        {.kind = Attribute::Kind::identity,
         .text = "identity:subject",
         .name = "subject",
         .source = fixture.config.limiter.identities[TokenFixture::subject].source}};
  }
  fixture.header("x-token", "x");
  CHECK(fixture.decide().outcome == Outcome::token_invalid);
  CHECK(fixture.store.keys() == 0);
}

TEST_CASE("An invalid token does not avoid a limit that exempts users or plans") {
  TokenFixture fixture;
  auto& limit = fixture.limit(policy("per_client", gcra(2, 1h)), 0);
  SECTION("by identity") {
    limit.unless = Condition{.identity = TokenFixture::subject};
  }
  SECTION("by plan") {
    fixture.config.limiter.plans.names = {"free", "internal"};
    fixture.config.limiter.plans.index_names();
    fixture.config.limiter.plans.default_plan = 0;
    fixture.config.limiter.plans.sources = {
        {PlanFromClaim{fixture.config.limiter.identities[TokenFixture::subject].source}}};
    SECTION("that it would have to name") {
      limit.unless = Condition{.plans = {1}};
    }
    SECTION("and the limit is for the default plan") {
      limit.when = Condition{.plans = {0}};
    }
  }
  fixture.header("x-token", "x");
  CHECK(fixture.decide().outcome == Outcome::token_invalid);
  CHECK(fixture.decide().outcome == Outcome::token_invalid);
  CHECK(fixture.decide().outcome == Outcome::denied);
}

TEST_CASE("An invalid token does not matter to a shadow policy") {
  TokenFixture fixture;
  Policy shadow = policy("per_user", gcra(9, 1h));
  shadow.shadow = true;
  fixture.limit(shadow, TokenFixture::subject);
  fixture.header("x-token", "x");
  CHECK(fixture.decide().outcome == Outcome::unlimited);
}

TEST_CASE("A token with an unknown key is invalid, and without keys it is unverifiable") {
  TokenFixture fixture;
  fixture.limit(policy("per_user", gcra(9, 1h)), TokenFixture::subject);
  fixture.header("x-token", unverified);
  const Verdict unknown = fixture.decide();
  CHECK(unknown.outcome == Outcome::token_invalid);
  CHECK(unknown.token_fault.rejection == jwt::Rejection::unknown_key);
  fixture.limiter.reset();
  fixture.config.limiter.token_providers[0].state = std::make_shared<identity::ProviderState>();
  const Verdict early = fixture.decide();
  CHECK(early.outcome == Outcome::token_unverifiable);
  CHECK_FALSE(early.token_fault.rejection);
}

TEST_CASE("A request that is refused for its token is not delayed") {
  TokenFixture fixture;
  rules::Definition leaky = gcra(1, 1s);
  leaky.algorithm = rules::Algorithm::leaky_bucket;
  leaky.queue = 5;
  fixture.limit(policy("smooth", leaky), 0);
  fixture.limit(policy("per_user", gcra(9, 1h)), TokenFixture::subject);
  CHECK(fixture.decide().delay == 0s);
  fixture.header("x-token", "x");
  const Verdict verdict = fixture.decide();
  CHECK(verdict.outcome == Outcome::token_invalid);
  CHECK(verdict.delay == 0s);
}

}  // namespace weir::limiter::test
