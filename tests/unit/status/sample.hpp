// A report of an instance that has one of everything, with hostile names.
#pragma once

#include <chrono>
#include <utility>

#include "status/window.hpp"

namespace weir::status {

inline constexpr const char* hostile = "<img src=x onerror=alert('1')>\"&";

inline Status sample_status() {
  using namespace std::chrono_literals;
  Status made{.at = instant_from_us(1'700'000'000'500'000)};
  made.process = {.version = "1.2.3",
                  .state = "ready",
                  .started_at_s = 1'699'999'000,
                  .workers = 2,
                  .resident_bytes = 20 << 20,
                  .connections = 9};
  made.configuration = {.hash = "c0ffee",
                        .loaded_at_s = 1'699'999'000,
                        .reloads = 3,
                        .failed_reloads = 1,
                        .restart_needed = {"workers"}};
  made.problems = {"redis is lost"};
  made.routes = {{.name = hostile, .responses = {0, 5, 0, 2, 1}, .denied = 2}};
  made.routes[0].duration.buckets[0] = 8;
  made.policies = {{.name = "p",
                    .algorithm = "gcra",
                    .is_shadow = true,
                    .allowed = 5,
                    .denied = 2,
                    .shadow_denied = 1,
                    .held = 3,
                    .leased = 7}};
  made.deciders = {{.name = "redis"}};
  made.upstreams = {{.name = "api",
                     .answered = 6,
                     .failed = 1,
                     .servers = {{.name = "a:80", .is_up = true}, {.name = "b:80"}}}};
  made.store.is_up = false;
  made.store.shared = {.instances = 4, .differing = 1, .replicas = 3, .fallbacks = 11};
  made.store.shared->nodes = {{.name = "redis:6379",
                               .is_up = false,
                               .breaker = Breaker::half_open,
                               .in_flight = 12,
                               .in_flight_limit = 40}};
  made.keys = {{.provider = "idp", .age = 90s, .fetched = 4, .failed = 1, .problem = "no answer"},
               {.provider = "new"}};
  return made;
}

/// A configuration that is in shadow.
inline ShadowReload sample_shadow_reload() {
  return {.state = "shadow",
          .hash = "ab",
          .until = "2026-01-01T00:00:00Z",
          .max_flips = "0.5%",
          .decisions = 700,
          .flips = 2,
          .skipped = 1};
}

/// The report about `later` in a window that has `earlier`; nullptr: that has nothing.
inline Report compare(const Status* earlier, Status later) {
  Window window;
  if (earlier != nullptr) window.add(*earlier);
  return window.add(std::move(later)).report;
}

/// Since a status of ten seconds before, in which nothing had been counted.
inline WindowReport sample_report(Status status = sample_status()) {
  Status before{.at = status.at - std::chrono::seconds(10)};
  Window window;
  window.add(std::move(before));
  return window.add(std::move(status));
}

}  // namespace weir::status
