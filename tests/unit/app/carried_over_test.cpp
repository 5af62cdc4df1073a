#include "app/carried_over.hpp"

#include <chrono>
#include <string>
#include <vector>

#include "catch.hpp"

namespace weir::app {
namespace {

struct CounterNames {
  std::vector<std::string> routes;
  std::vector<std::string> servers;
  std::vector<std::string> policies;
};

config::Config named(const CounterNames& names) {
  config::Config config;
  for (const auto& name : names.routes)
    config.proxy.routes.emplace_back().name = name;
  for (const auto& name : names.policies)
    config.limiter.policies.emplace_back().name = name;
  config.upstreams.emplace_back().name = "api";
  for (const auto& host : names.servers)
    config.upstreams[0].servers.push_back({.url = "http://" + host, .host = host});
  return config;
}

TEST_CASE("counters go on under their names, and the others begin at 0") {
  const auto before = named({.routes = {"a", "b"}, .servers = {"1", "2"}, .policies = {"p", "q"}});
  const auto after = named({.routes = {"c", "b"}, .servers = {"2", "3"}, .policies = {"r", "p"}});
  const WorkerCounters old = new_counters(before);
  const WorkerCounters now = carried_over(before, old, after);
  REQUIRE(now.named->routes.size() == 3);
  CHECK(now.named->routes[1] == old.named->routes[1]);
  CHECK(now.named->routes[0] != old.named->routes[0]);
  CHECK(now.named->routes[2] == old.named->routes[2]);  // no route matched
  CHECK(now.policies[1] == old.policies[0]);
  CHECK(now.policies[0] != old.policies[1]);
  CHECK(now.named->upstreams[0] == old.named->upstreams[0]);
  CHECK(now.named->servers_in_use[0][0] == old.named->servers_in_use[0][1]);
  CHECK(now.named->servers_in_use[0][1] != old.named->servers_in_use[0][0]);
}

TEST_CASE("entries of one name share a counter, and servers have one each") {
  const auto config = named({.routes = {"a", "a", "none"}, .servers = {"1", "1"}, .policies = {}});
  const WorkerCounters counters = new_counters(config);
  CHECK(counters.named->routes[0] == counters.named->routes[1]);
  CHECK(counters.named->routes[2] == counters.named->routes[3]);
  CHECK(counters.named->servers_in_use[0][0] != counters.named->servers_in_use[0][1]);
}

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

TEST_CASE("a name keeps its id, and gets it back") {
  NameRegistry registry;
  using Ids = std::vector<std::uint32_t>;
  CHECK(registry.use({"a", "b", "a"}) == Ids{0, 1, 0});
  CHECK(registry.use({"c"}) == Ids{2});
  CHECK(registry.use({"b", "c", "a"}) == Ids{1, 2, 0});
  CHECK(registry.names() == std::vector<std::string>{"a", "b", "c"});
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
