#include "app/differences.hpp"

#include <functional>
#include <utility>

#include "catch.hpp"

namespace weir::app {
namespace {

using Keys = std::vector<std::string>;

AddressList list_of(const char* name, const char* prefix) {
  return {name, PrefixTable({IpPrefix::parse(prefix).value()})};
}

limiter::PlanFromFile plan_file(const char* name, std::uint16_t plan = 1) {
  limiter::PlanTable table(1);
  table.add({.low = 1, .high = 2}, plan);
  return {.identity = 1, .shown = name, .table = Replaceable(std::move(table))};
}

config::Config example() {
  config::Config config;
  config.listen.emplace_back().address = {.host = "127.0.0.1", .port = 80, .unix_path = {}};
  config.upstreams.emplace_back().name = "api";
  config.identities = {{.name = "client", .source = {identity::FromClientAddress{}}},
                       {.name = "key", .source = {identity::FromHeader{"x-api-key"}}}};
  for (const char* const name : {"p", "q"}) {
    config.policies.emplace_back().name = name;
    auto& route = config.routes.emplace_back();
    route.name = std::string("to_") + name;
    route.upstream = 0;
    route.limits.emplace_back().policy = config.policies.size() - 1;
  }
  config.address_lists.push_back(list_of("office", "192.0.2.0/24"));
  config.routes[1].limits[0].when = limiter::Condition{.identity = 1};
  config.routes[1].limits[0].unless = limiter::Condition{.address = config.address_lists[0]};
  config.plans.names = {"free", "gold"};
  config.plans.sources = {{limiter::PlanFromHeader{"x-plan"}}, {plan_file("plans.tsv")}};
  config.policies[0].planned = {{.plan = 1, .unlimited = true, .terms = {}}};
  config.routes[0].limits[0].when = limiter::Condition{.plans = {1}};
  return config;
}

struct ChangedKeys {
  std::function<void(config::Config&)> change;
  Keys keys;
};

void check_differences(const std::vector<ChangedKeys>& rows) {
  for (const auto& row : rows) {
    config::Config after = example();
    row.change(after);
    CHECK(differences(example(), after) == row.keys);
  }
}

TEST_CASE("changed sections are named as in the file") {
  check_differences({
      {[](auto&) {}, {}},
      {[](auto& c) { c.listen[0].proxy_protocol = true; }, {"listen"}},
      {[](auto& c) { c.admin.emplace(); }, {"admin"}},
      {[](auto& c) { c.client_address.ipv6_prefix = 56; }, {"client_address"}},
      {[](auto& c) { c.downstream.max_head = 1024; }, {"downstream"}},
      {[](auto& c) { c.path_variants.letter_case = false; }, {"paths"}},
      {[](auto& c) { c.response_fields.standard = false; }, {"response_headers"}},
      {[](auto& c) { c.access_log.path = "off"; }, {"access_log"}},
      {[](auto& c) { c.memory.max_keys = 5; }, {"store.memory"}},
      {[](auto& c) { c.redis.password = Secret("x"); }, {"store.redis"}},
      {[](auto& c) { c.upstreams[0].retries = 5; }, {"upstreams.api"}},
      {[](auto& c) { c.upstreams[0].name = "web"; },
       {"upstreams.web", "upstreams.api", "routes.to_p", "routes.to_q"}},
      {[](auto& c) { c.identities[1].source = {identity::FromHeader{"x-key"}}; },
       {"identities.key"}},
      {[](auto& c) { c.policies[1].numbers.capacity = 7; }, {"policies.q"}},
      {[](auto& c) { c.routes[0].limits[0].cost = 2; }, {"routes.to_p"}},
      {[](auto& c) { c.denied.status = 503; }, {"denied"}},
      {[](auto& c) { c.policies[1].charges_preflight = true; }, {"policies.q"}},
      {[](auto& c) { c.address_lists[0] = list_of("office", "192.0.2.0/25"); },
       {"address_lists.office"}},
      {[](auto& c) { c.address_lists[0] = list_of("office", "192.0.2.0/24"); }, {}},
      {[](auto& c) { c.address_lists[0] = list_of("home", "192.0.2.0/24"); },
       {"address_lists.home", "address_lists.office"}},
      // A restart is needed for these; they are not listed twice.
      {[](auto& c) { c.workers = 9; }, {}},
      {[](auto& c) { c.identity_key.k0 = 9; }, {}},
  });
}

TEST_CASE("changed plans are named as in the file") {
  check_differences({
      {[](auto& c) { c.policies[0].planned[0].unlimited = false; }, {"plans.gold"}},
      {[](auto& c) { c.policies[1].planned = {{.plan = 0, .unlimited = true, .terms = {}}}; },
       {"plans.free"}},
      {[](auto& c) { c.plans.names[0] = "silver"; }, {"plans.silver", "plans.free"}},
      {[](auto& c) {
         c.plans.names = {"gold", "free"};
         c.policies[0].planned[0].plan = 0;
         c.routes[0].limits[0].when->plans = {0};
       },
       {}},
      {[](auto& c) { c.routes[0].limits[0].when->plans = {0}; }, {"routes.to_p"}},
      {[](auto& c) { c.plans.default_plan = 0; }, {"default_plan"}},
      {[](auto& c) { std::swap(c.plans.sources[0], c.plans.sources[1]); }, {"plan_from"}},
      {[](auto& c) { c.plans.sources[1] = {plan_file("plans.tsv")}; }, {}},
      {[](auto& c) { c.plans.sources[1] = {plan_file("plans.tsv", 0)}; }, {"plan_from"}},
      {[](auto& c) { c.plans.sources[1] = {plan_file("others.tsv")}; }, {"plan_from"}},
  });
}

TEST_CASE("changed routes are named as in the file") {
  check_differences({
      {[](auto& c) { c.routes[0].match.address = c.address_lists[0]; }, {"routes.to_p"}},
      {[](auto& c) { c.routes[1].limits[0].when->identity = 0; }, {"routes.to_q"}},
      {[](auto& c) { c.routes[1].limits[0].unless->address = list_of("home", "192.0.2.0/24"); },
       {"routes.to_q"}},
      {[](auto& c) {
         std::swap(c.identities[0], c.identities[1]);
         std::get<limiter::PlanFromFile>(c.plans.sources[1].from).identity = 0;
         c.routes[1].limits[0].when->identity = 0;
         for (auto& route : c.routes)
           route.limits[0].identity = 1;
       },
       {}},
      {[](auto& c) { c.routes[0].limits[0].identity = 1; }, {"routes.to_p"}},
      {[](auto& c) { c.routes[0].respond.body = "x"; }, {"routes.to_p"}},
      {[](auto& c) { c.routes[0].respond.fields = "x: y\r\n"; }, {"routes.to_p"}},
      {[](auto& c) {
         c.routes[0].response_edits = {{}, {}, {"server"}};
       },
       {"routes.to_p"}},
      {[](auto& c) { std::swap(c.routes[0], c.routes[1]); }, {"routes"}},
      {[](auto& c) { c.routes.pop_back(); }, {"routes.to_q"}},
      // Indexes move, names do not.
      {[](auto& c) {
         c.policies.emplace(c.policies.begin())->name = "n";
         for (auto& route : c.routes)
           ++route.limits[0].policy;
       },
       {"policies.n"}},
  });
}

TEST_CASE("what cannot change keeps its running value and is named") {
  const config::Config running = example();
  config::Config next = example();
  CHECK(keep_fixed(next, running).empty());
  next.workers = 9;
  next.identity_key.k1 = 9;
  next.store_type = config::StoreType::redis;
  next.redis.host = "redis";
  next.downstream.max_head = 1024;
  CHECK(keep_fixed(next, running) == Keys{"workers", "identity_secret", "store.type"});
  CHECK(next.workers == running.workers);
  CHECK(next.identity_key == running.identity_key);
  CHECK(next.store_type == running.store_type);
  CHECK(next.redis == running.redis);
  CHECK(next.downstream.max_head == 1024);
}

}  // namespace
}  // namespace weir::app
