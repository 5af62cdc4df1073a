// Retry-After of a call: never earlier than the instant at which the same hits fit.
#include <array>
#include <random>

#include "catch.hpp"
#include "seed.hpp"
#include "unit/rls/call_fixture.hpp"

namespace weir::rls::test {
namespace {

constexpr std::int64_t quota = 10;

struct Limited {
  const char* name;
  rules::Definition definition;
};

/// All algorithms that a descriptor may have.
std::vector<Limited> all_definitions() {
  using enum rules::Algorithm;
  const std::vector<rules::Rate> rate{{.count = quota, .per = 1min}};
  return {
      {"of the clock", {.algorithm = fixed_window, .rates = rate, .anchor = rules::Anchor::clock}},
      {"fixed_window", {.algorithm = fixed_window, .rates = rate}},
      {"sliding_window", {.algorithm = sliding_window, .rates = rate}},
      {"two tiers", {.algorithm = sliding_window, .rates = {rate[0], {.count = 25, .per = 5min}}}},
      {"sliding_log", {.algorithm = sliding_log, .rates = rate}},
      {"token_bucket", {.algorithm = token_bucket, .rates = rate}},
      {"gcra", {.algorithm = gcra, .rates = rate}},
      {"leaky_bucket", {.algorithm = leaky_bucket, .rates = rate, .queue = quota - 1}},
  };
}

/// A service with one limit, for the values of `a`.
void limit_by(Service& service, const rules::Definition& definition) {
  const std::size_t index = service.add_policy("own", quota, RateLimitUnit::minute);
  limiter::Policy& policy = service.limits.policies[index];
  policy.definition = definition;
  policy.numbers = rules::compile(definition).value();
  service.options.descriptors = {
      {.domain = "d", .entries = {{.key = "a"}}, .policy = index, .key = {"a"}}};
}

std::vector<Asked> hits(std::int64_t count) {
  return {{{{"a", "1"}}, static_cast<std::uint64_t>(count)}};
}

TEST_CASE("A client that waits for Retry-After is admitted, with every algorithm") {
  const TestSeed seed;
  std::mt19937 random{seed};
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (const auto& [name, definition] : all_definitions()) {
    CAPTURE(name);
    Service service;
    limit_by(service, definition);
    for (int i = 0; i < 500; ++i) {
      service.now += Duration{between(0, 40'000'000)};
      const std::int64_t asked = between(1, quota);
      CAPTURE(i, asked);
      if (codes(service.ask(hits(asked))) == "O") continue;
      REQUIRE(service.verdict.retry_after);
      CHECK(*service.verdict.retry_after > Duration{0});
      service.now += *service.verdict.retry_after;
      REQUIRE(codes(service.ask(hits(asked))) == "O");
    }
  }
}

TEST_CASE("A check has the Retry-After of its hits, with every algorithm") {
  for (const auto& [name, definition] : all_definitions()) {
    CAPTURE(name);
    for (std::int64_t asked = 1; asked <= quota; ++asked) {
      CAPTURE(asked);
      Service service;
      limit_by(service, definition);
      service.ask(hits(quota - asked + 1));
      REQUIRE(codes(service.ask(hits(asked), Method::check)) == "X");
      REQUIRE(service.verdict.retry_after);
      service.now += *service.verdict.retry_after;
      CHECK(codes(service.ask(hits(asked), Method::check)) == "O");
    }
  }
}

TEST_CASE("Hits beyond the limit have no Retry-After, with every algorithm") {
  for (const auto& [name, definition] : all_definitions()) {
    CAPTURE(name);
    Service service;
    limit_by(service, definition);
    for (const Method method : {Method::decide, Method::check}) {
      CHECK(codes(service.ask(hits(quota + 1), method)) == "X");
      CHECK_FALSE(service.verdict.retry_after);
    }
  }
}

}  // namespace
}  // namespace weir::rls::test
