#include "status/window.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <string>

#include "catch.hpp"
#include "seed.hpp"
#include "status/json.hpp"

namespace weir::status {
namespace {

using namespace std::chrono_literals;

constexpr Instant first_at = instant_from_us(1'700'000'000'000'000);

/// `requests`: since the start of the instance.
Status status_at(Duration after, std::uint64_t requests = 0) {
  Status made{.at = first_at + after};
  made.routes.push_back({.name = "a", .responses = {0, requests, 0, 0, 0}});
  return made;
}

TEST_CASE("with a status each second, rates cover 5 to 10 seconds") {
  Window window;
  CHECK(!window.add(status_at(0s)).report.over);
  for (int second = 1; second <= 60; ++second) {
    CAPTURE(second);
    const auto made =
        window.add(status_at(std::chrono::seconds(second), 10 * static_cast<unsigned>(second)));
    REQUIRE(made.report.over);
    CHECK(*made.report.over <= 10s);
    if (second >= 5) CHECK(*made.report.over >= 5s);
    CHECK(*made.report.routes[0].requests.per_second == Approx(10));
    CHECK(made.recent_over == 1s);
    CHECK(*made.recent.requests.per_second == Approx(10));
  }
}

TEST_CASE("a change is seen at once in recent, and in the rates after at most 10 seconds") {
  Window window;
  for (int second = 0; second <= 20; ++second)
    window.add(status_at(std::chrono::seconds(second)));
  CHECK(*window.add(status_at(21s, 100)).recent.requests.per_second == Approx(100));
  WindowReport made;
  for (int second = 22; second <= 31; ++second)
    made = window.add(status_at(std::chrono::seconds(second), 100));
  CHECK(*made.report.routes[0].requests.per_second == 0);
}

TEST_CASE("a status is compared with one that is a second to a minute older") {
  struct Row {
    Duration second_at;
    bool is_measured;
  };
  for (const Row& row : {Row{999ms, false}, Row{1s, true}, Row{30s, true}, Row{60s, true},
                         Row{61s, false}, Row{-1s, false}}) {
    CAPTURE(row.second_at.count());
    Window window;
    CHECK(!window.is_measured_at(first_at));
    window.add(status_at(0s));
    CHECK(window.is_measured_at(first_at + row.second_at) == row.is_measured);
    const auto made = window.add(status_at(row.second_at, 60));
    CHECK(made.report.over.has_value() == row.is_measured);
    if (row.is_measured) CHECK(made.report.over == row.second_at);
  }
}

TEST_CASE("after a pause, the newer of the two statuses counts") {
  Window window;
  window.add(status_at(0s));
  window.add(status_at(50s));
  CHECK(window.add(status_at(51s)).report.over == 1s);
  CHECK(window.add(status_at(70s)).report.over == 20s);
  CHECK(!window.add(status_at(200s)).report.over);
  CHECK(window.add(status_at(201s)).report.over == 1s);
}

TEST_CASE("recent covers at least half a second") {
  Window window;
  CHECK(!window.add(status_at(0s)).recent_over);
  CHECK(!window.add(status_at(499ms, 5)).recent_over);
  const auto made = window.add(status_at(1s, 10));
  CHECK(made.recent_over == 1s);
  CHECK(*made.recent.requests.per_second == Approx(10));
  CHECK(window.add(status_at(1500ms, 10)).recent_over == 500ms);
}

TEST_CASE("lists of changes give the same reports as lists of everything") {
  const TestSeed seed;
  std::mt19937_64 random(seed);
  constexpr std::size_t routes = 120;
  Status all{.at = first_at};
  for (std::size_t i = 0; i < routes; ++i) {
    all.routes.push_back({.name = "r" + std::to_string(i)});
    all.policies.push_back({.name = "p" + std::to_string(i)});
  }
  Window whole, partial;
  for (int step = 0; step < 400; ++step) {
    // Sometimes a pause, a reload that moves the routes, or one that brings a route back.
    all.at += random() % 20 == 0 ? Duration(70s) : Duration(random() % 3'000 * 1ms);
    Status changes = all;
    changes.routes.clear();
    changes.policies.clear();
    changes.route_places.emplace();
    changes.policy_places.emplace();
    for (std::uint64_t left = random() % 4; left > 0; --left) {
      const std::size_t place = random() % routes;
      Route& route = all.routes[place];
      route.responses[1] += random() % 9;
      route.denied += random() % 2;
      route.duration.buckets[3] += 2;
      changes.routes.push_back(route);
      changes.route_places->push_back(place);
      all.policies[place].denied += random() % 5;
      all.policies[place].held = random() % 3;
      changes.policies.push_back(all.policies[place]);
      changes.policy_places->push_back(place);
    }
    if (step == 0 || random() % 30 == 0) {
      std::ranges::rotate(all.routes, all.routes.begin() + 1);
      all.policies[random() % routes] = {.name = "new" + std::to_string(step)};
      changes = all;
    }
    CAPTURE(step);
    REQUIRE(to_json(partial.add(changes)) == to_json(whole.add(all)));
  }
}

}  // namespace
}  // namespace weir::status
