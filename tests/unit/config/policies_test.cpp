#include "catch.hpp"
#include "unit/config/loading.hpp"

namespace weir::config {
namespace {

using namespace std::chrono_literals;
using rules::Algorithm;
using test::must_load;

std::shared_ptr<const Config> with_policy(const std::string& policy) {
  return must_load("policies: {p: " + policy +
                   "}\nroutes: [{respond: {}, limits: [{policy: p}]}]\n");
}

TEST_CASE("every algorithm of the contract loads") {
  const auto config = must_load(R"(
policies:
  per_client: {algorithm: gcra, rate: 10/1s, burst: 20}
  per_user: {algorithm: sliding_window, rate: 600/1m}
  tiers: {algorithm: sliding_window, rates: [1000/1s, 5000/10s, 7000/15s]}
  exports: {algorithm: token_bucket, rate: 100/1h, burst: 10}
  logins: {algorithm: sliding_log, rate: 5/1m, count_rejected: true}
  daily: {algorithm: fixed_window, rate: 10000/1d, anchor: clock}
  watched: {algorithm: attributed_window, rate: 10/1s, attributes: [method, "header:User-Agent"]}
  smooth: {algorithm: leaky_bucket, rate: 50/1s, queue: 100, max_delay: 2s}
  gold: {rate: 100/s, mode: shadow}
  in_flight: {algorithm: concurrency, limit: 20}
routes: [{respond: {}}]
)");
  const auto& policies = config->limiter.policies;
  REQUIRE(policies.size() == 10);
  CHECK(policies[0].numbers.algorithm == Algorithm::gcra);
  CHECK(policies[0].numbers.capacity == 20);
  CHECK(policies[0].policy_item == "\"per_client\";q=20;w=2");
  CHECK(policies[0].name_item == "\"per_client\"");
  CHECK(policies[1].numbers.rates[0] == rules::Rate{600, 60s});
  CHECK(policies[2].numbers.rates.size() == 3);
  CHECK(policies[3].numbers.algorithm == Algorithm::token_bucket);
  CHECK(policies[4].numbers.count_rejected);
  CHECK(policies[5].numbers.anchor == rules::Anchor::clock);
  CHECK(policies[6].numbers.algorithm == Algorithm::attributed_window);
  CHECK(policies[7].numbers.queue == 100);
  CHECK(policies[7].numbers.max_delay == 2s);
  CHECK(policies[8].numbers.algorithm == Algorithm::gcra);
  CHECK(policies[8].shadow);
  CHECK_FALSE(policies[0].shadow);
  CHECK(policies[9].numbers.algorithm == Algorithm::concurrency);
  CHECK(policies[9].numbers.capacity == 20);
}

TEST_CASE("the settings of a policy other than its quota") {
  const auto plain = with_policy("{rate: 1/s}")->limiter.policies[0];
  CHECK(plain.cost == 1);
  CHECK(plain.status == 429);
  CHECK(plain.visible);
  CHECK(plain.denial == limiter::Denial{});
  CHECK_FALSE(plain.charges_preflight);
  const auto full =
      with_policy(
          "{rate: 10/s, cost: 3, status: 503, body: \"later\\n\", headers: false, mode: enforce}")
          ->limiter.policies[0];
  CHECK(full.cost == 3);
  CHECK(full.status == 503);
  CHECK(full.denial.bodies ==
        std::vector<limiter::DenialBody>{{.content_type = "text/plain", .text = "later\n"}});
  CHECK_FALSE(full.visible);
  CHECK_FALSE(full.shadow);
  // A limit that is not enforced is not shown to clients.
  CHECK_FALSE(with_policy("{rate: 1/s, mode: shadow}")->limiter.policies[0].visible);
  CHECK_FALSE(with_policy("{rate: 1/s, headers: true, mode: shadow}")->limiter.policies[0].visible);
}

TEST_CASE("attributes have a kind, and a source if they are an identity") {
  const auto config = must_load(R"(
identities: {api_key: {header: X-Api-Key}}
policies:
  watched:
    algorithm: attributed_window
    rate: 1/s
    attributes: ["header:user-agent", "query:page", client_address, method, path, "identity:api_key"]
routes: [{respond: {}, limits: [{policy: watched}]}]
)");
  using Kind = limiter::Attribute::Kind;
  const auto& attributes = config->limiter.policies[0].attributes;
  REQUIRE(attributes.size() == 6);
  const Kind kinds[] = {Kind::header, Kind::query, Kind::client_address,
                        Kind::method, Kind::path,  Kind::identity};
  for (std::size_t i = 0; i < 6; ++i) {
    CAPTURE(i);
    CHECK(attributes[i].kind == kinds[i]);
  }
  CHECK(attributes[0].text == "header:user-agent");
  CHECK(attributes[0].name == "user-agent");
  CHECK(std::get<identity::FromQuery>(attributes[1].source.from).name == "page");
  CHECK(attributes[5].name == "api_key");
  CHECK(std::get<identity::FromHeader>(attributes[5].source.from).name == "x-api-key");
  // Named only as an attribute, and so not unused.
  CHECK(config->presentation.warnings.empty());
}

TEST_CASE("identities nest, and client can be redefined") {
  const auto config = must_load(R"(
jwt_providers: {idp: {algorithms: [HS256], secret: 0123456789abcdef0123456789abcdef}}
identities:
  key: {any_of: [{header: x-api-key}, {all_of: [{query: k}, {cookie: c}]}]}
  subject: {jwt: {provider: idp, claim: sub}}
  client: {path: {}}
  id: {path: id}
routes:
  - match: {path: "/u/{id}"}
    respond: {}
    limits: []
)");
  REQUIRE(config->limiter.identities.size() == 4);
  CHECK(std::get<identity::FromClaim>(config->limiter.identities[2].source.from).claim == "sub");
  CHECK(config->limiter.identities[0].name == "client");
  CHECK(std::get<identity::FromPath>(config->limiter.identities[0].source.from).parameter.empty());
  const auto& any = std::get<identity::AnyOf>(config->limiter.identities[1].source.from).sources;
  REQUIRE(any.size() == 2);
  const auto& all = std::get<identity::AllOf>(any[1].from).sources;
  CHECK(std::get<identity::FromQuery>(all[0].from).name == "k");
  CHECK(std::get<identity::FromCookie>(all[1].from).name == "c");
  CHECK(std::get<identity::FromPath>(config->limiter.identities[3].source.from).parameter == "id");
}

TEST_CASE("a repeated query parameter or cookie is refused unless another choice is written") {
  const auto config = must_load(R"(
identities:
  a: {query: k}
  b: {repeated: last, query: k}
  c: {any_of: [{cookie: c, repeated: first}, {cookie: d, repeated: refuse}]}
routes: [{respond: {}}]
)");
  const auto& sources = config->limiter.identities;
  CHECK(std::get<identity::FromQuery>(sources[1].source.from).repeated ==
        identity::Repeated::refuse);
  CHECK(std::get<identity::FromQuery>(sources[2].source.from).repeated == identity::Repeated::last);
  const auto& any = std::get<identity::AnyOf>(sources[3].source.from).sources;
  CHECK(std::get<identity::FromCookie>(any[0].from).repeated == identity::Repeated::first);
  CHECK(std::get<identity::FromCookie>(any[1].from).repeated == identity::Repeated::refuse);
}

TEST_CASE("a malformed Cookie field is refused unless another choice is written") {
  const auto config = must_load(R"(
identities:
  a: {cookie: k}
  b: {malformed: accept, cookie: k, repeated: last}
  c: {cookie: k, malformed: refuse}
routes: [{respond: {}}]
)");
  const auto of = [&](std::size_t i) {
    return std::get<identity::FromCookie>(config->limiter.identities[i].source.from);
  };
  CHECK(of(1).malformed == identity::Malformed::refuse);
  CHECK(of(2).malformed == identity::Malformed::accept);
  CHECK(of(2).repeated == identity::Repeated::last);
  CHECK(of(3).malformed == identity::Malformed::refuse);
}

}  // namespace
}  // namespace weir::config
