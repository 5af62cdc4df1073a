// Counts by policy, route and key.
#include "replay/key_use.hpp"

#include <array>

#include "catch.hpp"

namespace weir::replay {
namespace {

using limiter::LimitVerdict;

limiter::Policy per_minute(const char* name) {
  limiter::Policy policy;
  policy.name = name;
  policy.numbers =
      rules::compile({.rates = {{.count = 10, .per = std::chrono::minutes(1)}}}).value();
  return policy;
}

struct Counted {
  options::Proxy proxy;
  limiter::Options limits;

  Counted() {
    proxy.routes.resize(2);
    proxy.routes[0].name = "a";
    proxy.routes[1].name = "b";
    limits.identities = {{.name = "client", .source = {identity::FromClientAddress{}}},
                         {.name = "key", .source = {identity::FromHeader{"x-key"}}}};
    limits.policies = {per_minute("p"), per_minute("q")};
    limits.policies[1].shadow = true;
  }
  LimitVerdict verdict(std::size_t policy, std::uint64_t key, bool allowed, std::int64_t cost = 1) {
    return {.policy = &limits.policies[policy],
            .decision = {.allowed = allowed},
            .cost = cost,
            .identity = {.low = key, .high = 0},
            .identity_index = policy};
  }
};

void count_at(KeyUse& use, std::int64_t second, std::size_t route,
              std::span<const LimitVerdict> limits) {
  use.count({.limits = limits}, {.route = route,
                                 .client = *IpAddress::parse("192.0.2.7"),
                                 .at = Instant{std::chrono::seconds(second)}});
}

}  // namespace

TEST_CASE("requests are counted by policy and route, keys by policy") {
  Counted made;
  KeyUse use(made.proxy, made.limits);
  count_at(use, 0, 0, std::array{made.verdict(0, 1, true), made.verdict(1, 1, false)});
  count_at(use, 1, 1, std::array{made.verdict(0, 1, false)});
  count_at(use, 2, 1, std::array{made.verdict(0, 2, true)});
  Report report;
  use.add_to(report, 10);
  REQUIRE(report.routes.size() == 3);
  CHECK((report.routes[0].policy == "p" && report.routes[0].route == "a"));
  CHECK((report.routes[0].use.requests == 1 && report.routes[0].use.denied == 0));
  CHECK((report.routes[1].route == "b" && report.routes[1].use.requests == 2));
  CHECK(report.routes[1].use.denied == 1);
  CHECK((report.routes[2].policy == "q" && report.routes[2].is_shadow));
  CHECK(report.routes[2].use.denied == 1);
  REQUIRE(report.policies.size() == 2);
  CHECK((report.policies[0].keys == 2 && report.policies[0].denied_keys == 1));
  CHECK((report.policies[1].keys == 1 && report.policies[1].denied_keys == 1));
  REQUIRE(report.keys.size() == 2);
  CHECK(report.keys[0].address == "192.0.2.7");
  CHECK(report.keys[0].first_denied_at == Instant{std::chrono::seconds(1)});
  CHECK_FALSE(report.keys[1].address);
}

TEST_CASE("the peak of a key is the most that it asked for in a period of the rate") {
  Counted made;
  KeyUse use(made.proxy, made.limits);
  for (const std::int64_t second : {0, 59, 60, 61, 119, 300})
    count_at(use, second, 0, std::array{made.verdict(0, 1, second != 300, 2)});
  Report report;
  use.add_to(report, 10);
  REQUIRE(report.keys.size() == 1);
  CHECK(report.keys[0].peak == 6);
  CHECK(report.keys[0].window == std::chrono::minutes(1));
}

TEST_CASE("the keys that are denied most come first, and no more than asked for") {
  Counted made;
  KeyUse use(made.proxy, made.limits);
  for (std::uint64_t key = 1; key <= 5; ++key) {
    for (std::uint64_t i = 0; i < key; ++i)
      count_at(use, 0, 0, std::array{made.verdict(0, key, false)});
  }
  Report report;
  use.add_to(report, 2);
  REQUIRE(report.keys.size() == 2);
  CHECK((report.keys[0].hash.low == 5 && report.keys[0].use.denied == 5));
  CHECK(report.keys[1].hash.low == 4);
  CHECK(report.policies[0].denied_keys == 5);
}

TEST_CASE("the peak of a concurrency limit is the most at once") {
  Counted made;
  made.limits.policies[0].numbers =
      rules::compile({.algorithm = rules::Algorithm::concurrency, .limit = 3}).value();
  KeyUse use(made.proxy, made.limits);
  LimitVerdict verdict = made.verdict(0, 1, false);
  verdict.decision.limit = 3;
  count_at(use, 0, 0, std::array{verdict});
  Report report;
  use.add_to(report, 1);
  REQUIRE(report.keys.size() == 1);
  CHECK(report.keys[0].peak == 4);
  CHECK_FALSE(report.keys[0].window);
}

}  // namespace weir::replay
