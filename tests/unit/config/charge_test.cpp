#include "config/charge.hpp"

#include "catch.hpp"
#include "unit/config/loading.hpp"

namespace weir::config {
namespace {

using limiter::ChargeByStatus;
using test::must_load;
using test::problems_of;

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
  CHECK(must_load(with_charge("charge: " + text))->routes[0].limits[0].charge->by_status ==
        expected);
  CHECK_FALSE(must_load(with_charge("cost: 1"))->routes[0].limits[0].charge);
}

TEST_CASE("mistakes in charge are reported with their place and their fix") {
  const auto [text, message] = GENERATE(table<std::string, std::string>({
      {"charge: {}",
       "2:53: routes[0].limits[0].charge: names no status; write status: [401, 403] or "
       "status_not: [500-599]\n"},
      {"charge: [401]",
       "2:53: routes[0].limits[0].charge: expected a map of keys, such as {status: [401, 403]}, "
       "found a list\n"},
      {"charge: {status: 401}",
       "2:62: routes[0].limits[0].charge.status: expected a list of statuses, such as [401, 403] "
       "or [500-599], found a single value\n"},
      {"charge: {status: [5xx]}",
       "2:63: routes[0].limits[0].charge.status[0]: expected a status such as 401, or a range such "
       "as 500-599 (here \"5xx\"); did you mean \"500-599\"?\n"},
      {"charge: {status: [599-500]}",
       "2:63: routes[0].limits[0].charge.status[0]: the range ends before it begins (here "
       "\"599-500\")\n"},
      {"charge: {status: [100]}",
       "2:63: routes[0].limits[0].charge.status[0]: expected a status such as 401, or a range such "
       "as 500-599 (here \"100\")\n"},
      {"charge: {status: [401], status_not: [403]}",
       "2:81: routes[0].limits[0].charge.status_not: status and status_not exclude each other; "
       "keep "
       "one\n"},
      {"charge: {status: [401]}, overdraft: true",
       "2:81: routes[0].limits[0].overdraft: overdraft and charge, reserve or cost_from exclude "
       "each other: the cost is held whole until the response; remove one\n"},
  }));
  CAPTURE(text);
  CHECK(problems_of(with_charge(text)) == message);
}

TEST_CASE("concurrency has a limit and no rate") {
  const auto load = [](const std::string& keys) {
    return "policies: {p: {" + keys + "}}\nroutes: [{respond: {}, limits: [{policy: p}]}]\n";
  };
  const auto policy = must_load(load("algorithm: concurrency, limit: 20"))->policies[0];
  CHECK(policy.numbers.capacity == 20);
  CHECK(policy.policy_item == R"("p";q=20;qu="concurrent-requests")");
  CHECK(problems_of(load("algorithm: concurrency")) ==
        "1:15: policies.p: the limit is missing; write one as limit: 20\n");
  CHECK(
      problems_of(load("algorithm: concurrency, limit: 20, rate: 1/s")) ==
      "1:57: policies.p.rate: concurrency has no rate: it limits the requests in progress; remove "
      "it, or use another algorithm\n");
  CHECK(problems_of(load("limit: 20")) ==
        "1:23: policies.p.limit: limit is for algorithm: concurrency; write count and time as one "
        "value, as in rate: 100/1m\n");
}

TEST_CASE("concurrency has a queue and the longest wait in it") {
  const auto load = [](const std::string& keys) {
    return "policies: {p: {" + keys + "}}\nroutes: [{respond: {}, limits: [{policy: p}]}]\n";
  };
  const auto plain = must_load(load("algorithm: concurrency, limit: 20"))->policies[0];
  CHECK(plain.queue == 0);
  CHECK(plain.max_wait == std::chrono::seconds(1));
  const auto queued =
      must_load(load("algorithm: concurrency, limit: 20, queue: 50, max_wait: 2s"))->policies[0];
  CHECK(queued.queue == 50);
  CHECK(queued.max_wait == std::chrono::seconds(2));
  CHECK(problems_of(load("algorithm: concurrency, limit: 20, max_wait: 2s")) ==
        "1:61: policies.p.max_wait: max_wait has no effect without queue; write queue: 50, or "
        "remove it\n");
  CHECK(problems_of(load("rate: 5/1s, max_wait: 2s")) ==
        "1:38: policies.p.max_wait: max_wait is for algorithm: concurrency; remove it, or use "
        "leaky_bucket with max_delay\n");
  for (const std::string wrong :
       {"queue: -1", "queue: 5, max_wait: 0s", "queue: 5, max_wait: 2h"}) {
    CAPTURE(wrong);
    CHECK(problems_of(load("algorithm: concurrency, limit: 20, " + wrong)) != "");
  }
}

}  // namespace
}  // namespace weir::config
