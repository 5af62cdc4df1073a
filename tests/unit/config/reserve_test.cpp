// The keys of a limit whose cost the request estimates and the response states.
#include "catch.hpp"
#include "config/sections.hpp"
#include "unit/config/loading.hpp"

namespace weir::config {
namespace {

using test::must_load;
using test::problems_of;

std::string metered(const std::string& keys, const std::string& action = "upstream: u") {
  return "upstreams: {u: {servers: [{url: \"http://127.0.0.1:1\"}]}}\npolicies: {p: {rate: "
         "500/1m}}\nroutes:\n  - {" +
         action + ", limits: [{policy: p, " + keys + "}]}\n";
}

limiter::Charge charge_of(const std::string& keys) {
  return must_load(metered(keys))->proxy.routes[0].limits[0].charge.value();
}

}  // namespace

TEST_CASE("a reserve is a number, or a place in the request and a default") {
  const auto [text, described] = GENERATE(table<std::string, std::string>({
      {"20", "20"},
      {"{header: X-Tokens, default: 20}", "header x-tokens of the request, else 20"},
      {"{json: /max_tokens, default: 20, at_most: 400}",
       "JSON /max_tokens of the request, else 20, at most 400"},
  }));
  CAPTURE(text);
  const auto config = must_load(metered("reserve: " + text));
  const limiter::Limit& limit = config->proxy.routes[0].limits[0];
  CHECK(describe(limit.charge->reserve.value()) == described);
  CHECK(limit.cost == 20);
  CHECK(((config->proxy.routes[0].needs & options::needs_body) != 0) ==
        (text.find("json") != std::string::npos));
}

TEST_CASE("a cost is read from the response") {
  const auto [text, described] = GENERATE(table<std::string, std::string>({
      {"[{header: X-Cost}]", "header x-cost"},
      {"[{json: /usage/total_tokens}]", "JSON /usage/total_tokens"},
      {"[{header: x-cost}, {json: [/usage/in, /usage/out]}]",
       "header x-cost, else JSON /usage/in + /usage/out"},
  }));
  CAPTURE(text);
  CHECK(limiter::describe(charge_of("reserve: 20, cost_from: " + text).cost_from.value()) ==
        described);
}

TEST_CASE("a missing cost is what was held, or nothing") {
  const std::string keys = "reserve: 20, cost_from: [{header: x-cost}]";
  CHECK_FALSE(charge_of(keys).missing_is_free);
  CHECK_FALSE(charge_of(keys + ", missing: reserved").missing_is_free);
  CHECK(charge_of(keys + ", missing: zero").missing_is_free);
}

TEST_CASE("at_most bounds what the request states and what the response states") {
  const limiter::Charge charge = charge_of(
      "reserve: {header: x-tokens, default: 1, at_most: 400}, "
      "cost_from: [{header: x-cost}]");
  CHECK(charge.reserve->at_most == 400);
  CHECK(charge.at_most == 400);
}

TEST_CASE("a route with decide accepts reports") {
  const auto config = must_load(
      "policies: {p: {rate: 5/1m}}\nroutes:\n- {decide: true, match: {path: /a}}\n"
      "- {decide: true, match: {path: /b}, hold_lease: 5s, limits: [{policy: p, reserve: 5}]}\n"
      "- {respond: {}, limits: [{policy: p, reserve: 5}]}\n");
  CHECK(config->proxy.routes[0].needs == options::needs_settlements);
  CHECK(config->proxy.routes[0].hold_lease == std::chrono::minutes(1));
  CHECK(config->proxy.routes[1].needs == options::needs_settlements);
  CHECK(config->proxy.routes[1].hold_lease == std::chrono::seconds(5));
  CHECK(config->proxy.routes[2].needs == options::needs_nothing);
}

TEST_CASE("another proxy sends neither a body nor a response") {
  const auto deciding = [](const std::string& policy, const std::string& keys) {
    return "policies: {p: {" + policy + "}}\nroutes: [{decide: true, limits: [{policy: p, " + keys +
           "}]}]\n";
  };
  CHECK(must_load(deciding("rate: 5/1m", "cost_from: [{header: x}, {json: /usage}]")) != nullptr);
  const auto warning_of = [&](const std::string& policy, const std::string& keys) {
    const auto warnings = test::warnings_of(deciding(policy, keys));
    REQUIRE(warnings.size() == 1);
    return warnings[0];
  };
  CHECK(warning_of("rate: 5/1m", "reserve: {json: /max, default: 2}").find("without the body") !=
        std::string::npos);
  CHECK(warning_of("algorithm: concurrency, limit: 2, queue: 3", "key: client")
            .find("waits for up to max_wait") != std::string::npos);
}

TEST_CASE("a reserve above the quota is reported by its own key") {
  const auto warnings = test::warnings_of(metered("reserve: 600"));
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("limits[0].reserve: a reserve of 600 could never pass: the policy \"p\" "
                         "holds at most 500") != std::string::npos);
}

}  // namespace weir::config
