#include "app/counters.hpp"

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
    config.routes.emplace_back().name = name;
  for (const auto& name : names.policies)
    config.policies.emplace_back().name = name;
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

}  // namespace
}  // namespace weir::app
