#include "app/override_request.hpp"

#include "catch.hpp"
#include "config/load.hpp"

using namespace weir;
using namespace weir::app;
using store::Override;

namespace {

const std::string request_yaml = R"(
identities:
  api_key: {header: X-Api-Key}
policies:
  burst: {rate: 10/1s, burst: 40}
  plain: {rate: 10/1s}
  large: {rate: 10/1s, cost: 5}
  tiers: {algorithm: sliding_window, rates: [10/1s, 100/1m]}
  slots: {algorithm: concurrency, limit: 3, queue: 8}
plans:
  gold: {plain: {rate: 99/1s}, burst: unlimited, large: {rate: 3/1s}}
  free: {tiers: {rates: [1/1s, 2/1m]}}
default_plan: free
routes:
  - respond: {status: 200}
    limits: [{policy: burst, key: api_key}, {policy: plain, key: api_key},
             {policy: tiers, key: api_key}]
)";
const config::Environment environment{
    .variable = [](const std::string&) { return std::optional<std::string>(); }, .directory = {}};
const Instant now = instant_from_us(1'790'000'000'000'000);

struct RequestFixture {
  std::shared_ptr<const config::Config> config =
      config::load_text(request_yaml, environment).value();
  std::vector<std::string> names{"gone", "burst", "plain", "tiers", "large", "slots"};

  Result<OverridePut> read(std::string_view members) const {
    return read_override(R"({"key":"abc",)" + std::string(members) + "}", {*config, names}, now);
  }
};

std::string warning_about(const std::string& members) {
  const auto config = config::load_text(R"(
identities:
  api_key: {header: X-Api-Key}
  tenant: {header: X-Tenant}
  unused: {header: X-Unused}
policies:
  burst: {rate: 10/1s}
  plain: {rate: 10/1s}
  idle: {rate: 10/1s}
plans: {gold: {idle: {rate: 99/1s}}, both: {burst: {rate: 99/1s}}}
default_plan: gold
routes:
  - respond: {status: 200}
    limits: [{policy: burst, key: api_key}, {policy: plain, key: tenant, otherwise: client}]
)",
                                        environment)
                          .value();
  const std::vector<std::string> names{"burst", "plain", "idle"};
  const auto put = read_override("{" + members + "}", {*config, names}, now);
  REQUIRE(put.has_value());
  return ineffective_because(*put, *config);
}

}  // namespace

TEST_CASE("The identity of a hash must exist if it is named") {
  const RequestFixture fixture;
  const std::string key = "hash:000000000000000000000000000000ab";
  const auto with = [&](const std::string& identity) {
    const OverrideContext context{*fixture.config, fixture.names};
    const std::string body =
        R"({"deny":true,"key":")" + key + R"(","identity":")" + identity + R"("})";
    return read_override(body, context, now);
  };
  REQUIRE(with("api_key").has_value());
  CHECK(with("api_key")->key == Hash128{.low = 0xab});
  REQUIRE_FALSE(with("nobody").has_value());
  CHECK(with("nobody").error().message ==
        "identity: no identity has the name \"nobody\"; known here: client, api_key");
  CHECK(with("api_keys").error().message ==
        "identity: no identity has the name \"api_keys\"; did you mean \"api_key\"?");
}

TEST_CASE("Numbers replace those of the policy; a rate sets the burst unless it is written") {
  const RequestFixture fixture;
  const auto plain =
      fixture.read(R"("policy":"plain","rate":"50/1s","until":"2026-12-01T00:00:00Z")");
  REQUIRE(plain.has_value());
  CHECK(plain->entry.numbers.capacity == 50);
  CHECK(plain->entry.policy == "plain");
  CHECK(plain->entry.policy_id == 2);
  CHECK(plain->entry.until == instant_from_us(1'796'083'200'000'000));
  CHECK(plain->entry.details == R"("rate":"50/1s","until":"2026-12-01T00:00:00Z")");
  CHECK(plain->identity == "api_key");
  CHECK(plain->key == identity::keys_of(fixture.config->limiter.identities[1].source, "abc",
                                        {.client = fixture.config->proxy.client_address},
                                        fixture.config->limiter.identity_key)[0]);
  CHECK(fixture.read(R"("policy":"burst","rate":"50/1s")")->entry.numbers.capacity == 40);
  CHECK(fixture.read(R"("policy":"burst","rate":"50/1s","burst":7)")->entry.numbers.capacity == 7);
  CHECK(fixture.read(R"("policy":"burst","burst":7)")->entry.numbers.rates[0].count == 10);
  CHECK(fixture.read(R"("policy":"tiers","rates":["5/1s","9/1m"])")->entry.numbers.rates.size() ==
        2);
}

TEST_CASE("A concurrency policy takes another limit, and keeps its queue") {
  const RequestFixture fixture;
  const auto wider = fixture.read(R"("policy":"slots","limit":50)");
  REQUIRE(wider.has_value());
  CHECK(wider->entry.kind == Override::Kind::numbers);
  CHECK(wider->entry.numbers ==
        rules::compile({.algorithm = rules::Algorithm::concurrency, .limit = 50}).value());
  CHECK(wider->entry.details == R"("limit":50)");
  for (const auto& [members, problem] :
       {std::pair{R"("policy":"slots","rate":"5/1s")",
                  "policy slots: rate has no meaning for concurrency: give limit, the units in "
                  "flight at once"},
        {R"("policy":"slots","queue":5)",
         "queue: an override cannot change the queue of a concurrency policy, which belongs to the "
         "instance; change it in the configuration, or override limit"},
        {R"("policy":"slots","limit":0)",
         "policy slots: limit is 0: it must be between 1 and "
         "4503599627370495"},
        {R"("policy":"plain","limit":5)",
         "policy plain: limit has no meaning for gcra: remove it, or use concurrency"}}) {
    CAPTURE(members);
    const auto refused = fixture.read(members);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message == problem);
  }
}

TEST_CASE("Numbers that the policy cannot have, and an end that has passed, are refused") {
  const RequestFixture fixture;
  for (const auto& [members, problem] :
       {std::pair{R"("policy":"plain","rates":["5/1h","10/2h"])",
                  "policy plain: rates has 2 tiers, "},
        {R"("policy":"plain","queue":5)", "policy plain: queue has no meaning for gcra"},
        {R"("policy":"large","rate":"3/1s")", "policy large: these numbers are below its cost"},
        {R"("deny":true,"until":"2020-01-01T00:00:00Z")",
         "until: the time has passed; give a later one, or none"}}) {
    CAPTURE(members);
    const auto refused = fixture.read(members);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message.starts_with(problem));
  }
}

TEST_CASE("A plan for all policies is bounded, and not one for a policy") {
  std::string policies, plan;
  std::vector<std::string> names;
  for (int i = 0; i < 65; ++i) {
    names.push_back("p" + std::to_string(i));
    policies += names.back() + ": {rate: 1/1h}, ";
    plan += names.back() + ": unlimited, ";
  }
  const auto config =
      config::load_text("policies: {" + policies + "}\nplans: {gold: {" + plan +
                            "}}\ndefault_plan: gold\nroutes: [{respond: {status: 200}, limits: "
                            "[{policy: p0, key: client}]}]\n",
                        environment)
          .value();
  const OverrideContext context{*config, names};
  const std::string key = R"("key":"192.0.2.1","plan":"gold")";
  CHECK(read_override("{" + key + "}", context, now).error().message ==
        "plan: plans change 65 policies, more than 64; name a policy");
  CHECK(read_override("{" + key + R"(,"policy":"p3"})", context, now).has_value());
}

TEST_CASE("A plan has its numbers for one policy, or for each that a plan changes") {
  const RequestFixture fixture;
  const auto plain = fixture.read(R"("policy":"plain","plan":"gold")");
  REQUIRE(plain.has_value());
  CHECK(plain->entry.kind == Override::Kind::numbers);
  CHECK(plain->entry.numbers.capacity == 99);
  CHECK(plain->entry.details == R"("plan":"gold")");
  CHECK(fixture.read(R"("policy":"burst","plan":"gold")")->entry.kind == Override::Kind::unlimited);
  CHECK(fixture.read(R"("policy":"plain","plan":"free")")->entry.numbers.capacity == 10);
  const auto all = fixture.read(R"("plan":"gold")");
  REQUIRE(all.has_value());
  CHECK(all->entry.kind == Override::Kind::plan);
  CHECK(all->entry.policy_id == Override::every_policy);
  REQUIRE(all->entry.plan.size() == 4);
  for (const store::PlanNumbers& one : all->entry.plan) {
    CAPTURE(one.policy);
    CHECK(fixture.names[one.policy_id] == one.policy);
    CHECK(one.numbers.has_value() == (one.policy != "burst"));
    if (one.policy == "plain") CHECK(one.numbers->capacity == 99);
    if (one.policy == "tiers") CHECK(one.numbers->capacity == 10);
  }
  for (const auto& [members, problem] :
       {std::pair{R"("plan":"silver")",
                  "plan: no plan has the name \"silver\"; known here: gold, free"},
        {R"("policy":"large","plan":"gold")", "policy large: these numbers are below its cost"}}) {
    CAPTURE(members);
    const auto refused = fixture.read(members);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message.find(problem) != std::string::npos);
  }
}

TEST_CASE("A key is read as requests are") {
  const auto config = config::load_text(R"(
client_address: {ipv4_prefix: 24}
identities:
  client: {client_address: {}}
  place: {path: {}}
  either: {any_of: [{header: a}, {query: b}]}
  both: {all_of: [{header: a}, {query: b}]}
policies: {p: {rate: 1/1s}}
routes: [{respond: {status: 200}, limits: [{policy: p, key: client}]}]
)",
                                        environment)
                          .value();
  const std::vector<std::string> names{"p"};
  const auto read = [&](const char* identity, const char* key) {
    return read_override(
        std::string(R"({"deny":true,"identity":")") + identity + R"(","key":")" + key + "\"}",
        {*config, names}, now);
  };
  CHECK(read("client", "192.0.2.0/24")->key == read("client", "192.0.2.77")->key);
  CHECK(read("client", "2001:db8::/64")->key == read("client", "2001:db8::1")->key);
  // Paths are compared without case and trailing slash, as also_match has it by default.
  CHECK(read("place", "/P/Abc/")->key == read("place", "/p/abc")->key);
  for (const auto& [identity, key, problem] :
       {std::tuple{"client", "192.0.0.0/16", "the prefix that is counted (/24 for IPv4, /64"},
        {"client", "192.0.2.0/32", "the prefix that is counted"},
        {"client", "192.0.2.1/24", "the prefix that is counted"},
        {"client", "192.0.2.1/garbage", "the prefix that is counted"},
        {"client", "localhost", "expected an address"},
        {"client", "hash:123", "key: a hash has 32 hexadecimal digits, as in the access log"},
        {"either", "x", "each has its own key; write hash:HEX"},
        {"both", "x", "combines several values; write hash:HEX"}}) {
    CAPTURE(identity, key);
    const auto refused = read(identity, key);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message.find(problem) != std::string::npos);
  }
}

TEST_CASE("A claim that may be a string, a number or a boolean has no single key") {
  const auto config = config::load_text(R"(
jwt_providers: {idp: {algorithms: [HS256], secret: 0123456789abcdef0123456789abcdef}}
identities: {tenant: {jwt: {provider: idp, claim: tenant}}}
policies: {p: {rate: 1/1s}}
routes: [{respond: {status: 200}, limits: [{policy: p, key: tenant}]}]
)",
                                        environment)
                          .value();
  const std::vector<std::string> names{"p"};
  const OverrideContext context{*config, names};
  const auto read = [&](const std::string& key) {
    return read_override(R"({"deny":true,"key":")" + key + "\"}", context, now);
  };
  CHECK(read("alice").has_value());
  CHECK(read("05").has_value());  // no number of JSON
  CHECK(read("hash:000000000000000000000000000000ab").has_value());
  for (const auto& [key, kind] : {std::pair{"5", "a number"},
                                  {"-0.5e3", "a number"},
                                  {"true", "a boolean"},
                                  {"false", "a boolean"}}) {
    CAPTURE(key);
    const auto refused = read(key);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message ==
          "key: the claim of the identity tenant may be a string or " + std::string(kind) +
              " with this value, and each has its own key; write hash:HEX of the one that is "
              "meant: `weir hash --identity tenant` prints each, and the access log has it");
    CHECK_FALSE(
        read_override_query("key=" + std::string(key) + "&policy=p", context, false).has_value());
  }
}

TEST_CASE("An unknown policy is refused, except where it may have been removed since") {
  const RequestFixture fixture;
  const OverrideContext context{*fixture.config, fixture.names};
  const std::string problem = "policy: no policy has the name \"plains\"; did you mean \"plain\"?";
  CHECK(fixture.read(R"("policy":"plains","deny":true)").error().message == problem);
  CHECK(read_override_query("policy=plains", context, true).error().message == problem);
  CHECK(read_override_query("policy=plain", context, true)->policy == "plain");
  CHECK(read_override_query("key=a&policy=plains", context, false)->policy == "plains");
}

TEST_CASE("A query names a key and a policy, percent-encoded") {
  const RequestFixture fixture;
  const OverrideContext context{*fixture.config, fixture.names};
  const auto all = read_override_query("", context, true);
  REQUIRE(all.has_value());
  CHECK_FALSE(all->key.has_value());
  const auto one = read_override_query("key=%68ash:0000000000000000000000000000000a&policy=a%20b",
                                       context, false);
  REQUIRE(one.has_value());
  CHECK(one->key == Hash128{.low = 10});
  CHECK(one->policy == "a b");
  for (const auto& [query, lists, problem] :
       {std::tuple{"policy=p", false,
                   "key is missing: give the value of the identity, or hash:HEX"},
        {"identity=api_key", true, "key is missing: give the value of the identity, or hash:HEX"},
        {"key=a&x=y", false, "unknown parameter \"x\"; known are identity, key, policy"},
        {"key=a&key=b", false, "the parameter key appears twice; write it once"},
        {"identity=nobody&key=hash:0000000000000000000000000000000a", false,
         "identity: no identity has the name \"nobody\"; known here: client, api_key"}}) {
    CAPTURE(query);
    CHECK(read_override_query(query, context, lists).error().message == problem);
  }
}

TEST_CASE("A query with a bad percent escape is refused with the name of its parameter") {
  const RequestFixture fixture;
  const OverrideContext context{*fixture.config, fixture.names};
  for (const auto& [query, name] : {std::pair{"identity=%zz&key=a", "identity"},
                                    {"key=a%", "key"},
                                    {"key=%4", "key"},
                                    {"key=%4g", "key"},
                                    {"key=%g4", "key"},
                                    {"key=%25%", "key"},
                                    {"key=a&policy=%%41", "policy"}}) {
    CAPTURE(query);
    const auto refused = read_override_query(query, context, true);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message ==
          name + std::string(": % is not followed by two hexadecimal digits; write %25 for a "
                             "percent sign"));
  }
  for (const char* query : {"key=%25zz", "key=%aF", "key=100%25"}) {
    CAPTURE(query);
    CHECK(read_override_query(query, context, true).has_value());
  }
}

TEST_CASE("An override that no limit can use has a warning") {
  constexpr auto hash = R"("key":"hash:000000000000000000000000000000ab",)";
  const std::string end =
      ", so this override has no effect; add such a limit, or delete the override";
  for (const auto& [members, limit] :
       {std::pair{std::string(R"("key":"a","identity":"api_key","policy":"burst","deny":true)"),
                  ""},
        {R"("key":"a","identity":"tenant","deny":true)", ""},
        {R"("key":"192.0.2.1","identity":"client","policy":"plain","deny":true)", ""},
        {std::string(hash) + R"("policy":"plain","rate":"5/1s")", ""},
        {std::string(hash) + R"("unlimited":true)", ""},
        // one without the other
        {R"("key":"a","identity":"tenant","policy":"burst","deny":true)",
         "no limit of a route has the policy burst with the key tenant"},
        {R"("key":"a","identity":"api_key","policy":"idle","deny":true)",
         "no limit of a route has the policy idle"},
        {R"("key":"a","identity":"unused","policy":"burst","deny":true)",
         "no limit of a route has the key unused"},
        {R"("key":"a","identity":"unused","deny":true)", "no limit of a route has the key unused"},
        {std::string(hash) + R"("policy":"idle","rate":"5/1s")",
         "no limit of a route has the policy idle"},
        {std::string(hash) + R"("identity":"unused","rate":"5/1s","policy":"burst")",
         "no limit of a route has the key unused"},
        // a plan for all policies changes those that it or another plan changes
        {R"("key":"a","identity":"api_key","plan":"gold")", ""},
        {R"("key":"a","identity":"tenant","plan":"gold")",
         "no limit of a route has a policy that plans change with the key tenant"}}) {
    CAPTURE(members);
    CHECK(warning_about(members) == (*limit == '\0' ? std::string() : limit + end));
  }
}
