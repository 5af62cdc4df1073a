#include "app/policy_registry.hpp"

#include <chrono>
#include <string>

#include "catch.hpp"

namespace weir::app {
namespace {

limiter::Policy policy(std::string name, std::int64_t count = 10) {
  limiter::Policy made;
  made.name = std::move(name);
  made.numbers =
      rules::compile({.rates = {{.count = count, .per = std::chrono::seconds(1)}}}).value();
  return made;
}

std::vector<std::uint32_t> ids_of(const std::vector<PolicyRegistry::Entry>& entries) {
  std::vector<std::uint32_t> ids;
  for (const auto& entry : entries)
    ids.push_back(entry.id);
  return ids;
}

TEST_CASE("a policy keeps its id wherever it stands, and gets it back") {
  PolicyRegistry registry;
  CHECK(ids_of(registry.use({policy("a"), policy("b")})) == std::vector<std::uint32_t>{0, 1});
  CHECK(ids_of(registry.use({policy("c"), policy("b"), policy("a")})) ==
        std::vector<std::uint32_t>{2, 1, 0});
  CHECK(ids_of(registry.use({policy("c")})) == std::vector<std::uint32_t>{2});
  CHECK(ids_of(registry.use({policy("d"), policy("a")})) == std::vector<std::uint32_t>{3, 0});
  CHECK(registry.names() == std::vector<std::string>{"a", "b", "c", "d"});
}

TEST_CASE("a policy has another revision when its numbers change, and no other") {
  PolicyRegistry registry;
  const auto revision = [&](std::vector<limiter::Policy> policies) {
    return registry.use(policies).front().revision;
  };
  CHECK(revision({policy("a")}) == 0);
  CHECK(revision({policy("a"), policy("b")}) == 0);
  CHECK(revision({policy("a", 20)}) == 1);
  CHECK(revision({policy("b")}) == 0);
  CHECK(revision({policy("a", 20)}) == 1);
  CHECK(revision({policy("a", 10)}) == 2);
  auto other = policy("a", 10);
  other.numbers.algorithm = rules::Algorithm::token_bucket;
  CHECK(revision({other}) == 3);
  other.status = 503;
  CHECK(revision({other}) == 3);
}

TEST_CASE("each plan that changes a policy has a revision of its own, never used before") {
  PolicyRegistry registry;
  const auto planned = [](std::int64_t count) {
    limiter::Policy made = policy("a");
    made.planned = {{.plan = 0, .unlimited = false, .terms = policy("a", count)},
                    {.plan = 1, .unlimited = true, .terms = {}}};
    return made;
  };
  // The revisions 1 and 2 are those of its plans.
  CHECK(registry.use({planned(20)}).front().revision == 0);
  CHECK(registry.use({planned(20)}).front().revision == 0);
  CHECK(registry.use({planned(30)}).front().revision == 3);
  CHECK(registry.use({policy("a")}).front().revision == 6);
  CHECK(registry.use({planned(30)}).front().revision == 7);
}

}  // namespace
}  // namespace weir::app
