#include "app/override_request.hpp"

#include "catch.hpp"
#include "config/load.hpp"
#include "identity/plain_key.hpp"

using namespace weir;
using namespace weir::app;
using store::Override;

namespace {

const std::string file = R"(
identities:
  api_key: {header: X-Api-Key}
policies:
  burst: {rate: 10/1s, burst: 40}
  plain: {rate: 10/1s}
  tiers: {algorithm: sliding_window, rates: [10/1s, 100/1m]}
routes:
  - respond: {status: 200}
    limits: [{policy: burst, key: api_key}, {policy: plain, key: api_key},
             {policy: tiers, key: api_key}]
)";
const config::Environment environment{
    .variable = [](const std::string&) { return std::optional<std::string>(); }, .directory = {}};
const Instant now = instant_from_us(1'790'000'000'000'000);

struct Fixture {
  std::shared_ptr<const config::Config> config = config::load_text(file, environment).value();
  std::vector<std::string> names{"gone", "burst", "plain", "tiers"};

  Result<OverridePut> read(std::string_view members) const {
    return read_override(R"({"key":"abc",)" + std::string(members) + "}", {*config, names}, now);
  }
};

}  // namespace

TEST_CASE("Numbers replace those of the policy; a rate sets the burst unless it is written") {
  const Fixture fixture;
  const auto plain =
      fixture.read(R"("policy":"plain","rate":"50/1s","until":"2026-12-01T00:00:00Z")");
  REQUIRE(plain.has_value());
  CHECK(plain->entry.numbers.capacity == 50);
  CHECK(plain->entry.policy == "plain");
  CHECK(plain->entry.policy_id == 2);
  CHECK(plain->entry.until == instant_from_us(1'796'083'200'000'000));
  CHECK(plain->entry.details == R"("rate":"50/1s","until":"2026-12-01T00:00:00Z")");
  CHECK(plain->identity == "api_key");
  CHECK(plain->key == identity::key_of(fixture.config->identities[1].source, "abc",
                                       fixture.config->client_address,
                                       fixture.config->identity_key));
  CHECK(fixture.read(R"("policy":"burst","rate":"50/1s")")->entry.numbers.capacity == 40);
  CHECK(fixture.read(R"("policy":"burst","rate":"50/1s","burst":7)")->entry.numbers.capacity == 7);
  CHECK(fixture.read(R"("policy":"burst","burst":7)")->entry.numbers.rates[0].count == 10);
  CHECK(fixture.read(R"("policy":"tiers","rates":["5/1s","9/1m"])")->entry.numbers.rates.size() ==
        2);
}

TEST_CASE("A query names a key and a policy, percent-encoded") {
  const Fixture fixture;
  const OverrideContext context{*fixture.config, fixture.names};
  const auto all = read_override_query("", context, true);
  REQUIRE(all.has_value());
  CHECK_FALSE(all->key.has_value());
  const auto one = read_override_query("key=%68ash:0000000000000000000000000000000a&policy=a%20b",
                                       context, false);
  REQUIRE(one.has_value());
  CHECK(one->key == Hash128{.low = 10});
  CHECK(one->policy == "a b");
  CHECK_FALSE(read_override_query("policy=p", context, false).has_value());
  CHECK_FALSE(read_override_query("identity=api_key", context, true).has_value());
  CHECK_FALSE(read_override_query("key=a&x=y", context, false).has_value());
}
