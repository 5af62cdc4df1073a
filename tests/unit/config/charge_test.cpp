#include "catch.hpp"
#include "config/sections.hpp"
#include "unit/config/loading.hpp"

namespace weir::config {
namespace {

using limiter::ChargeByStatus;
using test::must_load;

std::string with_charge(const std::string& keys) {
  return "policies: {p: {rate: 5/1m}}\nroutes: [{respond: {}, limits: [{policy: p, " + keys +
         "}]}]\n";
}

TEST_CASE("a limit is charged by the status of the response") {
  const auto [text, expected] = GENERATE(table<std::string, ChargeByStatus>({
      {"{status: [401, 403]}", {.statuses = {{401, 401}, {403, 403}}}},
      {"{status: [200-299, 404]}", {.statuses = {{200, 299}, {404, 404}}}},
      {"{status_not: [500-599]}", {.statuses = {{500, 599}}, .is_exclusion = true}},
      {"{status: [101]}", {.statuses = {{101, 101}}}},
  }));
  CAPTURE(text);
  CHECK(must_load(with_charge("charge: " + text))->proxy.routes[0].limits[0].charge->by_status ==
        expected);
  CHECK_FALSE(must_load(with_charge("cost: 1"))->proxy.routes[0].limits[0].charge);
}

TEST_CASE("a limit is charged by the status of a gRPC call") {
  const auto charge = [](const std::string& text) {
    return *must_load(with_charge("charge: " + text))->proxy.routes[0].limits[0].charge;
  };
  CHECK(charge("{grpc_status: [0, 7-9, 16]}").by_grpc_status ==
        ChargeByStatus{.statuses = {{0, 0}, {7, 9}, {16, 16}}});
  CHECK_FALSE(charge("{grpc_status: [16]}").by_status);
  const limiter::Charge both = charge("{status: [401], grpc_status_not: [14]}");
  CHECK(both.by_status == ChargeByStatus{.statuses = {{401, 401}}});
  CHECK(both.by_grpc_status == ChargeByStatus{.statuses = {{14, 14}}, .is_exclusion = true});
}

TEST_CASE("concurrency has a limit and no rate") {
  const auto load = [](const std::string& keys) {
    return "policies: {p: {" + keys + "}}\nroutes: [{respond: {}, limits: [{policy: p}]}]\n";
  };
  const auto policy = must_load(load("algorithm: concurrency, limit: 20"))->limiter.policies[0];
  CHECK(policy.numbers.capacity == 20);
  CHECK(policy.policy_item == R"("p";q=20;qu="concurrent-requests")");
}

TEST_CASE("concurrency has a queue and the longest wait in it") {
  const auto load = [](const std::string& keys) {
    return "policies: {p: {" + keys + "}}\nroutes: [{respond: {}, limits: [{policy: p}]}]\n";
  };
  const auto plain = must_load(load("algorithm: concurrency, limit: 20"))->limiter.policies[0];
  CHECK(plain.queue == 0);
  CHECK(plain.max_wait == std::chrono::seconds(1));
  const auto queued = must_load(load("algorithm: concurrency, limit: 20, queue: 50, max_wait: 2s"))
                          ->limiter.policies[0];
  CHECK(queued.queue == 50);
  CHECK(queued.max_wait == std::chrono::seconds(2));
}

}  // namespace
}  // namespace weir::config
