#include "status/report.hpp"

#include <chrono>
#include <string>

#include "catch.hpp"
#include "sample.hpp"

namespace weir::status {
namespace {

using namespace std::chrono_literals;

constexpr Instant start = instant_from_us(1'700'000'000'000'000);

Route route_of(std::string name, std::uint64_t ok, std::uint64_t denied) {
  Route route{.name = std::move(name), .denied = denied};
  route.responses = {0, ok, 0, denied, 0};
  route.duration.buckets[0] = ok + denied;
  return route;
}

template <class Row>
std::vector<std::string> names_of(const std::vector<Row>& rows) {
  std::vector<std::string> names;
  for (const Row& row : rows)
    names.push_back(row.name);
  return names;
}

TEST_CASE("without an earlier status there are totals, but no rates") {
  const Report report = compare(nullptr, {.at = start, .routes = {route_of("a", 3, 2)}});
  CHECK(!report.over);
  REQUIRE(report.routes.size() == 1);
  CHECK(report.routes[0].requests.total == 5);
  CHECK(report.routes[0].denied.total == 2);
  CHECK(!report.routes[0].requests.per_second);
  CHECK(!report.routes[0].duration);
  CHECK(report.traffic.requests.total == 5);
  CHECK(!report.traffic.requests.per_second);
}

TEST_CASE("a status that is not later has no rates either") {
  const Status earlier{.at = start, .routes = {route_of("a", 3, 2)}};
  CHECK(!compare(&earlier, earlier).over);
  CHECK(!compare(&earlier, {.at = start - 1s}).over);
}

TEST_CASE("rates are counts by the time between two statuses") {
  Status earlier{.at = start, .routes = {route_of("a", 100, 50), route_of("b", 7, 0)}};
  Status later{.at = start + 2500ms, .routes = {route_of("a", 150, 60), route_of("b", 7, 0)}};
  earlier.routes[0].responses[4] = 1;
  later.routes[0].responses[4] = 6;
  later.routes[0].duration.buckets[0] = 150;
  later.routes[0].duration.buckets[3] = 60;
  const Report report = compare(&earlier, later);
  CHECK(report.over == 2500ms);
  const RouteRow& a = report.routes[0];
  CHECK(a.name == "a");
  CHECK(a.requests.total == 216);
  CHECK(*a.requests.per_second == Approx(26));
  CHECK(*a.denied.per_second == Approx(4));
  CHECK(*a.client_errors.per_second == Approx(4));
  CHECK(*a.server_errors.per_second == Approx(2));
  CHECK(a.duration == Percentiles{.p50 = 750us, .p90 = 950us, .p99 = 995us});
  CHECK(*report.routes[1].requests.per_second == 0);
  CHECK(!report.routes[1].duration);
  CHECK(*report.traffic.requests.per_second == Approx(26));
  CHECK(*report.traffic.denied.per_second == Approx(4));
  CHECK(*report.traffic.server_errors.per_second == Approx(2));
  CHECK(report.traffic.duration == a.duration);
}

TEST_CASE("rows are matched by name, and counted from 0 if they are new or were made anew") {
  const Status earlier{.at = start, .routes = {route_of("gone", 9, 9), route_of("anew", 9, 0)}};
  const Status later{.at = start + 1s, .routes = {route_of("new", 4, 0), route_of("anew", 3, 0)}};
  const Report report = compare(&earlier, later);
  CHECK(names_of(report.routes) == std::vector<std::string>{"new", "anew"});
  CHECK(*report.routes[0].requests.per_second == Approx(4));
  CHECK(*report.routes[1].requests.per_second == Approx(3));
}

TEST_CASE("denials come first, then requests, then the order of the configuration") {
  const Status earlier{.at = start};
  const Status later{.at = start + 1s,
                     .routes = {route_of("idle", 0, 0), route_of("busy", 900, 0),
                                route_of("denied", 1, 5), route_of("idle too", 0, 0),
                                route_of("denied more", 1, 6), route_of("denied and busy", 2, 5)}};
  CHECK(names_of(compare(&earlier, later).routes) ==
        std::vector<std::string>{"denied more", "denied and busy", "denied", "busy", "idle",
                                 "idle too"});
}

TEST_CASE("lists are bounded, and the sums count all routes") {
  Status later{.at = start + 1s};
  for (std::size_t i = 0; i < most_rows + 7; ++i) {
    later.routes.push_back(route_of(std::to_string(i), i, 0));
    later.upstreams.push_back({.name = std::to_string(i), .failed = i});
    later.policies.push_back({.name = std::to_string(i), .denied = i});
  }
  const Status earlier{.at = start};
  const Report report = compare(&earlier, later);
  CHECK(report.routes.size() == most_rows);
  CHECK(report.routes.front().name == "56");
  CHECK(report.omitted.routes == 7);
  CHECK(report.omitted.policies == 7);
  CHECK(report.policies.front().policy.name == "56");
  CHECK(report.omitted.upstreams == 7);
  CHECK(report.upstreams.front().name == "56");
  CHECK(report.omitted.nodes == 0);
  CHECK(report.traffic.requests.total == 56 * 57 / 2);
}

TEST_CASE("thousands of idle routes do not hide the few that have requests") {
  Status all{.at = start};
  for (std::size_t i = 0; i < 10'000; ++i)
    all.routes.push_back(route_of(std::to_string(i), 0, 0));
  Window window;
  window.add(all);
  Status later{.at = start + 1s, .routes = {route_of("9000", 3, 0), route_of("7000", 3, 0)}};
  later.route_places = {9000, 7000};
  const Report report = window.add(later).report;
  const std::vector<std::string> names = names_of(report.routes);
  REQUIRE(names.size() == most_rows);
  CHECK(std::vector(names.begin(), names.begin() + 4) ==
        std::vector<std::string>{"7000", "9000", "0", "1"});
  CHECK(*report.routes[0].requests.per_second == Approx(3));
  CHECK(*report.routes[2].requests.per_second == 0);
  CHECK(report.omitted.routes == 9950);
  CHECK(report.traffic.requests.total == 6);
}

TEST_CASE("policies, stores, upstreams and nodes have their rates") {
  Status earlier{.at = start, .policies = {{.name = "p", .allowed = 1}}};
  earlier.upstreams = {{.name = "u", .answered = 10, .failed = 1}};
  earlier.deciders = {{.name = "redis"}};
  earlier.store.shared.emplace().nodes = {{.name = "r:6379", .errors = 3}};
  Status later = earlier;
  later.at = start + 10s;
  later.policies[0].allowed = 11;
  later.policies[0].denied = 20;
  later.policies[0].shadow_denied = 30;
  later.policies[0].delayed = 40;
  later.policies[0].errors = 50;
  later.policies[0].held = 4;
  later.upstreams[0].answered = 30;
  later.upstreams[0].failed = 6;
  later.upstreams[0].unhealthy = 5;
  later.upstreams[0].servers = {{.name = "a:80", .is_up = true}};
  later.deciders[0].duration.buckets[0] = 70;
  later.store.shared->nodes[0].errors = 8;
  later.store.shared->nodes[0].latency.buckets[1] = 100;
  const Report report = compare(&earlier, later);
  const PolicyRow& policy = report.policies[0];
  CHECK(policy.policy.held == 4);
  CHECK(policy.decisions.total == 151);
  CHECK(*policy.decisions.per_second == Approx(15));
  CHECK(*policy.denied.per_second == Approx(2));
  CHECK(*policy.shadow_denied.per_second == Approx(3));
  CHECK(*policy.delayed.per_second == Approx(4));
  CHECK(*policy.errors.per_second == Approx(5));
  CHECK(*report.upstreams[0].answered.per_second == Approx(2));
  CHECK(*report.upstreams[0].failed.per_second == Approx(0.5));
  CHECK(*report.upstreams[0].unhealthy.per_second == Approx(0.5));
  CHECK(report.upstreams[0].servers[0].is_up);
  CHECK(*report.deciders[0].decisions.per_second == Approx(7));
  CHECK(report.deciders[0].duration->p50 == 50us);
  CHECK(*report.nodes[0].errors.per_second == Approx(0.5));
  CHECK(*report.nodes[0].decisions.per_second == Approx(10));
  CHECK(report.nodes[0].latency->p99 == 249us);
  // A store that was not shared before.
  earlier.store.shared.reset();
  CHECK(*compare(&earlier, later).nodes[0].errors.per_second == Approx(0.8));
}

}  // namespace
}  // namespace weir::status
