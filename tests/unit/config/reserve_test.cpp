// The keys of a limit whose cost the request estimates and the response states.
#include "catch.hpp"
#include "config/charge.hpp"
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
  return must_load(metered(keys))->routes[0].limits[0].charge.value();
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
  const limiter::Limit& limit = config->routes[0].limits[0];
  CHECK(describe(limit.charge->reserve.value()) == described);
  CHECK(limit.cost == 20);
  CHECK(((config->routes[0].needs & proxy::needs_body) != 0) ==
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

TEST_CASE("mistakes in reserve, cost_from and missing are reported with their fix") {
  const std::string limit = "routes[0].limits[0].";
  const auto [keys, key, message] = GENERATE(table<std::string, std::string, std::string>({
      {"reserve: 0", "reserve", "expected a whole number from 1 to"},
      {"reserve: {json: /a}", "reserve", "default"},
      {"reserve: {default: 5}", "reserve", "names no source; write header: NAME or json: POINTER"},
      {"reserve: {json: /a, header: b, default: 5}", "reserve.json",
       "header and json exclude each other; keep one"},
      {"reserve: {json: a, default: 5}", "reserve.json", "/"},
      {"reserve: {header: 'x y', default: 5}", "reserve.header",
       "expected the name of a header field, such as x-usage-tokens"},
      {"reserve: {json: /a, default: 50, at_most: 5}", "reserve.default",
       "the default is above at_most"},
      {"reserve: 5, cost: 5", "cost", "cost and reserve exclude each other"},
      {"missing: zero", "missing", "missing has no effect without cost_from; remove it"},
      {"cost_from: [{}]", "cost_from[0]", "names no source"},
      {"cost_from: {json: /a}", "cost_from", "expected a list of sources"},
      {"cost_from: [{json: [/a, b]}]", "cost_from[0].json[1]", "/"},
      {"cost_from: [{header: x}], missing: free", "missing", "zero"},
      {"reserve: 5, overdraft: true", "overdraft", "exclude each other"},
  }));
  CAPTURE(keys);
  const std::string problems = problems_of(metered(keys));
  CAPTURE(problems);
  const std::size_t place = problems.find(": " + limit + key + ": ");
  REQUIRE(place != std::string::npos);
  CHECK(problems.find(message, place) != std::string::npos);
}

TEST_CASE("a fixed response states no cost, and concurrency has none") {
  CHECK(problems_of(metered("cost_from: [{header: x}]", "respond: {}"))
            .find("cost_from needs the response of an upstream") != std::string::npos);
  for (const std::string key :
       {"reserve: 5", "cost_from: [{header: x}]", "charge: {status: [200]}"}) {
    CAPTURE(key);
    CHECK(problems_of("policies: {p: {algorithm: concurrency, limit: 2}}\n"
                      "upstreams: {u: {servers: [{url: \"http://127.0.0.1:1\"}]}}\n"
                      "routes: [{upstream: u, limits: [{policy: p, " +
                      key + "}]}]\n")
              .find("has no meaning for concurrency") != std::string::npos);
  }
}

TEST_CASE("a route with decide accepts reports") {
  const auto config = must_load(
      "policies: {p: {rate: 5/1m}}\nroutes:\n- {decide: true, match: {path: /a}}\n"
      "- {decide: true, match: {path: /b}, hold_lease: 5s, limits: [{policy: p, reserve: 5}]}\n"
      "- {respond: {}, limits: [{policy: p, reserve: 5}]}\n");
  CHECK(config->routes[0].needs == proxy::needs_settlements);
  CHECK(config->routes[0].hold_lease == std::chrono::minutes(1));
  CHECK(config->routes[1].needs == proxy::needs_settlements);
  CHECK(config->routes[1].hold_lease == std::chrono::seconds(5));
  CHECK(config->routes[2].needs == proxy::needs_nothing);
}

TEST_CASE("another proxy sends neither a body nor a response") {
  const auto deciding = [](const std::string& policy, const std::string& keys) {
    return "policies: {p: {" + policy + "}}\nroutes: [{decide: true, limits: [{policy: p, " + keys +
           "}]}]\n";
  };
  CHECK(problems_of(deciding("rate: 5/1m", "cost_from: [{json: /usage}]"))
            .find("the report of another proxy has no body") != std::string::npos);
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

TEST_CASE("hold_lease belongs to decide, and is bounded") {
  const auto problems_with = [](const std::string& keys) {
    return problems_of("routes: [{" + keys + "}]\n");
  };
  CHECK(problems_with("respond: {}, hold_lease: 5s").find("no effect without decide: true") !=
        std::string::npos);
  for (const char* lease : {"0s", "999ms", "25h"})
    CHECK(problems_with("decide: true, hold_lease: " + std::string(lease)).find("1s to 1d") !=
          std::string::npos);
}

TEST_CASE("a reserve above the quota is reported by its own key") {
  const auto warnings = test::warnings_of(metered("reserve: 600"));
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("limits[0].reserve: a reserve of 600 could never pass: the policy \"p\" "
                         "holds at most 500") != std::string::npos);
}

}  // namespace weir::config
