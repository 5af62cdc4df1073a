#include "admin/status_source.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "catch.hpp"
#include "test_process.hpp"

namespace weir::admin {
namespace {

constexpr Instant noon = instant_from_us(1'700'000'000'000'000);

status::Status status_of(const TestProcess& process, const ProcessStats& stats = {}) {
  return StatusSource().read(process.shown(), stats, noon);
}

TEST_CASE("the status adds up the routes and policies of all workers") {
  TestProcess process({named_route("search")});
  process.named[0]->routes[0]->count(200, Duration{100});
  process.named[1]->routes[0]->count(204, Duration{101});
  process.named[1]->routes[0]->count(429, Duration{1});
  process.named[1]->routes[0]->denied.add();
  process.named[0]->routes[1]->count(404, Duration{1});
  process.policies[0][0]->allowed.add(3);
  process.policies[1][0]->allowed.add(4);
  process.policies[1][0]->denied.add(2);
  process.policies[1][0]->shadow_denied.add(5);
  process.policies[0][0]->delayed.add(6);
  process.policies[0][0]->error.add(8);
  const status::Status made = status_of(process);
  CHECK(made.at == noon);
  REQUIRE(made.routes.size() == 2);
  CHECK(made.routes[0].name == "search");
  CHECK(made.routes[0].responses == std::array<std::uint64_t, 5>{0, 2, 0, 1, 0});
  CHECK(made.routes[0].denied == 1);
  CHECK(made.routes[0].duration.buckets[0] == 2);
  CHECK(made.routes[0].duration.sum_us == 202);
  CHECK(made.routes[1].name == "none");
  CHECK(made.routes[1].responses[3] == 1);
  REQUIRE(made.policies.size() == 1);
  const status::Policy& policy = made.policies[0];
  CHECK(policy.name == "per_client");
  CHECK(policy.algorithm == "gcra");
  CHECK(policy.allowed == 7);
  CHECK(policy.denied == 2);
  CHECK(policy.shadow_denied == 5);
  CHECK(policy.delayed == 6);
  CHECK(policy.errors == 8);
  CHECK(!policy.held);
  CHECK(!policy.queued);
  CHECK(!policy.leased);
  CHECK(!made.top);
}

TEST_CASE("a status after the first lists the routes and policies that have changed") {
  TestProcess process({named_route("a"), named_route("b"), named_route("a")});
  process.config.limiter.policies.emplace_back().name = "other";
  for (auto& worker : process.policies)
    worker.push_back(std::make_shared<limiter::PolicyCounters>());
  const auto shown = process.shown();
  StatusSource source;
  const auto listed = [&] { return source.read(shown, {}, noon); };
  const auto names = [](const auto& entries) {
    std::vector<std::string> all;
    for (const auto& entry : entries)
      all.push_back(entry.name);
    return all;
  };
  using Names = std::vector<std::string>;
  using Places = std::vector<std::size_t>;
  status::Status made = listed();
  CHECK(!made.route_places);
  CHECK(!made.policy_places);
  CHECK(names(made.routes) == Names{"a", "b", "none"});
  CHECK(names(made.policies) == Names{"per_client", "other"});
  made = listed();
  CHECK(made.routes.empty());
  CHECK(made.route_places == Places{});
  CHECK(made.policies.empty());
  process.named[1]->routes[1]->count(200, Duration{1});
  process.named[0]->routes[3]->denied.add();
  process.policies[1][1]->denied.add();
  made = listed();
  CHECK(names(made.routes) == Names{"b", "none"});
  CHECK(made.route_places == Places{1, 2});
  CHECK(made.routes[0].responses[1] == 1);
  CHECK(names(made.policies) == Names{"other"});
  CHECK(made.policy_places == Places{1});
  // The durations may be counted after the status.
  process.named[1]->routes[1]->duration.observe(Duration{1});
  made = listed();
  CHECK(names(made.routes) == Names{"b", "none"});
  CHECK(made.routes[0].duration.buckets[0] == 2);
  CHECK(made.policies.empty());
  CHECK(listed().routes.empty());
  // Other instruments, as after a reload, and a status that was lost.
  CHECK(source.read(process.shown(), {}, noon).routes.size() == 3);
  source.restart();
  CHECK(!listed().route_places);
}

TEST_CASE("units that are held are a change of a policy that counts nothing") {
  TestProcess process({named_route("slow")});
  process.config.limiter.policies[0].numbers.algorithm = rules::Algorithm::concurrency;
  process.config.proxy.routes[0].limits.push_back({});
  const auto shown = process.shown();
  StatusSource source;
  source.read(shown, {}, noon);
  process.policies[0][0]->held.set(2);
  CHECK(source.read(shown, {}, noon).policies.at(0).held == 2);
  CHECK(source.read(shown, {}, noon).policies.empty());
}

TEST_CASE("the status has the units of a policy that holds, queues or leases") {
  TestProcess process({named_route("slow")});
  limiter::Policy& policy = process.config.limiter.policies[0];
  policy.numbers.algorithm = rules::Algorithm::concurrency;
  policy.queue = 5;
  policy.lease = true;
  process.config.proxy.routes[0].limits.push_back({});
  process.policies[0][0]->held.set(2);
  process.policies[1][0]->held.set(3);
  process.policies[1][0]->queued.set(4);
  const auto leased = std::make_shared<Gauge>();
  leased->set(6);
  process.policies[0][0]->leased = leased;
  const status::Status made = status_of(process);
  CHECK(made.policies[0].held == 5);
  CHECK(made.policies[0].queued == 4);
  CHECK(made.policies[0].leased >= 6);
}

TEST_CASE("the status has the upstreams, and a server is up while every worker uses it") {
  TestProcess process;
  process.named[0]->upstreams[0]->answered.add(7);
  process.named[1]->upstreams[0]->connect_failed.add(1);
  process.named[1]->upstreams[0]->timed_out.add(2);
  process.named[0]->upstreams[0]->broken.add(4);
  process.named[0]->upstreams[0]->unhealthy.add(8);
  process.config.upstreams[0].servers = {{.url = {}, .host = "::1", .port = 3000},
                                         {.url = {}, .host = "a.example"}};
  for (auto& worker : process.named)
    worker->servers_in_use[0] = {std::make_shared<Gauge>(), std::make_shared<Gauge>()};
  process.named[0]->servers_in_use[0][0]->set(1);
  process.named[0]->servers_in_use[0][1]->set(1);
  process.named[1]->servers_in_use[0][1]->set(1);
  const status::Status made = status_of(process);
  REQUIRE(made.upstreams.size() == 1);
  CHECK(made.upstreams[0].name == "api");
  CHECK(made.upstreams[0].answered == 7);
  CHECK(made.upstreams[0].failed == 7);
  CHECK(made.upstreams[0].unhealthy == 8);
  REQUIRE(made.upstreams[0].servers.size() == 2);
  CHECK(made.upstreams[0].servers[0].name == "[::1]:3000");
  CHECK_FALSE(made.upstreams[0].servers[0].is_up);
  CHECK(made.upstreams[0].servers[1].is_up);
}

TEST_CASE("the status has the process, its configuration and the memory store") {
  TestProcess process;
  process.reloads.ok.add(2);
  process.reloads.failed.add(3);
  process.traffic[0]->connections.add(5);
  process.traffic[1]->decision_duration[0].observe(Duration{3});
  const status::Status made =
      status_of(process, {.resident_bytes = 4096, .started_at_s = 1'699'000'000});
  CHECK(made.process.version == WEIR_VERSION);
  CHECK(made.process.state == "ready");
  CHECK(made.process.started_at_s == 1'699'000'000);
  CHECK(made.process.workers == 2);
  CHECK(made.process.resident_bytes == 4096);
  CHECK(made.process.connections == 5);
  CHECK(made.configuration.hash == "c0ffee");
  CHECK(made.configuration.loaded_at_s == 1'700'000'000);
  CHECK(made.configuration.reloads == 2);
  CHECK(made.configuration.failed_reloads == 3);
  CHECK(made.store.is_up);
  CHECK(!made.store.shared);
  REQUIRE(made.deciders.size() == 1);
  CHECK(made.deciders[0].name == "memory");
  CHECK(made.deciders[0].duration.buckets[0] == 1);
  process.readiness = Readiness::draining;
  CHECK(status_of(process).process.state == "draining");
}

TEST_CASE("the status has the configuration that is in shadow") {
  TestProcess process;
  CHECK(status_of(process).configuration.shadow_reload.is_none());
  ShadowReload shadow;
  Instruments instruments = process.instruments();
  instruments.shadow_reload = &shadow;
  const auto all = std::make_shared<const Instruments>(instruments);
  const auto shown = [&] { return StatusSource().read(all, {}, noon).configuration.shadow_reload; };
  CHECK(shown().is_none());
  shadow.set({.stage = ShadowState::Stage::shadow, .max_flips = 5'000, .flips = 3});
  CHECK(shown().state == "shadow");
  CHECK(shown().max_flips == "0.5%");
  CHECK(shown().flips == 3);
}

TEST_CASE("the status has the store that instances share, and its nodes") {
  TestProcess process;
  process.share_store();
  process.shared[0].chain.alone.add(10);
  process.shared[1].chain.remembered.add(9);
  process.shared[0].chain.leased.add(7);
  process.config.redis.replicas.reset();
  process.health.report_instances({.running = 4, .replicas = 6, .differing = 2});
  process.health.report(0, {.last_error = "redis is lost"}, noon);
  redis::NodeCounters& first = process.shared[0].node();
  redis::NodeCounters& second = process.shared[1].node();
  first.is_ready = true;
  first.breaker.in_flight = 3;
  first.breaker.in_flight_limit = 10;
  first.breaker.latency.observe(Duration{200});
  second.breaker.in_flight = 4;
  second.breaker.in_flight_limit = 11;
  second.breaker.errors.add(5);
  second.breaker.state = store::NodeControl::State::open;
  const status::Status made = status_of(process);
  CHECK_FALSE(made.store.is_up);
  CHECK(made.problems == std::vector<std::string>{"redis is lost"});
  REQUIRE(made.store.shared);
  CHECK(made.store.shared->instances == 4);
  CHECK(made.store.shared->differing == 2);
  CHECK(made.store.shared->replicas == 6);
  CHECK(made.store.shared->fallbacks == 10);
  CHECK(made.store.shared->remembered == 9);
  CHECK(made.store.shared->leased == 7);
  REQUIRE(made.store.shared->nodes.size() == 1);
  const status::Node& node = made.store.shared->nodes[0];
  CHECK(node.name == "redis:6379");
  CHECK_FALSE(node.is_up);
  CHECK(node.breaker == status::Breaker::open);
  CHECK(node.in_flight == 7);
  CHECK(node.in_flight_limit == 21);
  CHECK(node.errors == 5);
  CHECK(node.latency.buckets[1] == 1);
  REQUIRE(made.deciders.size() == 2);
  CHECK(made.deciders[0].name == "redis");
  CHECK(made.deciders[1].name == "local");
}

TEST_CASE("the status has the keys of token issuers") {
  TestProcess process;
  const auto health = std::make_shared<KeyHealth>();
  health->ok.add(4);
  health->failed.add(1);
  health->set(std::chrono::seconds(90), "no answer");
  process.keys = {{"idp", health}, {"new", std::make_shared<KeyHealth>()}};
  const status::Status made = status_of(process);
  REQUIRE(made.keys.size() == 2);
  CHECK(made.keys[0].provider == "idp");
  CHECK(made.keys[0].age == Duration(std::chrono::seconds(90)));
  CHECK(made.keys[0].fetched == 4);
  CHECK(made.keys[0].failed == 1);
  CHECK(made.keys[0].problem == "no answer");
  CHECK(!made.keys[1].age);
}

}  // namespace
}  // namespace weir::admin
