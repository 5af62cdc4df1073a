// The decision about one request, from its head to its verdict.
#include "decision/decision.hpp"

#include "catch.hpp"
#include "contract/store_under_test.hpp"
#include "decision/head_inspection.hpp"
#include "decision/refusals.hpp"
#include "store/memory_store.hpp"
#include "unit/decision/configuration.hpp"
#include "unit/limiter/request_fixture.hpp"

namespace weir::decision::test {
namespace {

using namespace std::chrono_literals;
using limiter::Outcome;

/// Two routes: /free without limits, and /paid with one a second of each key.
Configuration two_routes() {
  Configuration config;
  config.limiter.identities = {{.name = "key", .source = {identity::FromHeader{"x-key"}}}};
  config.limiter.policies = {limiter::test::policy("per_key", limiter::test::gcra(1, 1h))};
  for (const char* const path : {"/free", "/paid"}) {
    options::Route& route = config.proxy.routes.emplace_back();
    route.name = path + 1;
    route.match.path = routing::PathPattern::parse(path).value();
  }
  config.proxy.routes[1].limits.push_back({.policy = 0, .identity = 0, .required = true});
  return config;
}

struct Deciding {
  /// Returns the refusal of the inspection or of the routes.
  std::optional<http::Refusal> find(std::string its_head) {
    head = std::move(its_head);
    decision.clear();
    request.clear();
    if (auto refusal = inspect_head(rules, head, request)) return refusal;
    return decision.find_routes(rules, request);
  }

  Configuration config = two_routes();
  RequestRules rules{config.proxy, config.limiter};
  store::MemoryStore store{{.max_keys = 100, .seed = 1}};
  limiter::Limiter limiter{config.limiter, store};
  store::test::Received nobody;
  std::string head;
  http::ReceivedRequest request;
  Decision decision;
};

const std::string rest = " HTTP/1.1\r\nHost: a\r\n";

}  // namespace

TEST_CASE("A request that no route takes is refused, and one without limits is not limited") {
  Deciding one;
  CHECK(one.find("GET /other" + rest + "\r\n") == no_route);
  CHECK_FALSE(one.find("GET /free" + rest + "\r\n"));
  CHECK(one.decision.route()->name == "free");
  CHECK_FALSE(one.decision.is_limited());
}

TEST_CASE("A limited request gets its verdict, and the next one of the key another") {
  Deciding one;
  for (const Outcome outcome : {Outcome::allowed, Outcome::denied}) {
    REQUIRE_FALSE(one.find("GET /paid" + rest + "X-Key: a\r\n\r\n"));
    REQUIRE(one.decision.is_limited());
    REQUIRE(one.decision.decide(one.limiter, one.nobody, limiter::test::epoch));
    CHECK(one.decision.verdict().outcome == outcome);
    CHECK_FALSE(one.decision.waits());
    CHECK_FALSE(one.decision.take_refusing_route(one.config.proxy));
  }
}

TEST_CASE("A request without the identity belongs to the route that requires it") {
  Deciding one;
  REQUIRE_FALSE(one.find("GET /paid" + rest + "\r\n"));
  limiter::Trace trace;
  REQUIRE(one.decision.decide(one.limiter, one.nobody, limiter::test::epoch, &trace));
  CHECK(one.decision.verdict().outcome == Outcome::identity_required);
  CHECK(one.decision.take_refusing_route(one.config.proxy));
  CHECK(one.decision.route()->name == "paid");
  REQUIRE(trace.limits.size() == 1);
  CHECK(trace.limits[0].fate == limiter::Fate::required);
}

}  // namespace weir::decision::test
