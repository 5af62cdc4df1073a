// A report about other rates and another configuration.
#pragma once

#include "replay/report.hpp"

namespace weir::replay {

inline RateReport sample_rate(std::int64_t count, std::uint64_t denied, std::uint64_t keys) {
  return {.rates = {{.count = count, .per = std::chrono::seconds(1)}},
          .burst = 20,
          .is_round = true,
          .denied = denied,
          .denied_keys = keys};
}

inline Report sample_rates() {
  Report report{.lines = {.read = 1'000}};
  RateReport own = sample_rate(10, 30, 2), half = sample_rate(5, 300, 9);
  own.times = "x1";
  half.times = "x0.5";
  report.rates = {{.policy = "p",
                   .plan = "gold",
                   .requests = 1'000,
                   .keys = 50,
                   .rates = {half, own, sample_rate(50, 1, 0)}}};
  report.suggestions =
      Suggestions{.max_denied = 1'000,
                  .policies = {{.policy = "p",
                                .plan = "gold",
                                .requests = 1'000,
                                .keys = 50,
                                .rate = sample_rate(50, 1, 0),
                                .smaller = own},
                               {.policy = "q", .highest = sample_rate(10'000, 7, 1)}},
                  .without_durations = {"slots"}};
  report.flips = FlipReport{
      .file = "other.yaml",
      .counts = {.decisions = 1'000, .flips = 12, .to_denied = 10, .to_admitted = 1},
      .denied = {{.policy = "p",
                  .identity = "client",
                  .hash = {.low = 2, .high = 1},
                  .address = "192.0.2.1",
                  .flips = 9,
                  .error = 1}},
      .admitted = {{.policy = "q", .identity = "key", .hash = {.low = 4, .high = 3}, .flips = 1}},
      .secret_differs = true};
  report.timeline.count(Instant{std::chrono::seconds(1'767'268'800)}, false);
  report.timeline.count(Instant{std::chrono::seconds(1'767'268'801)}, true);
  return report;
}

}  // namespace weir::replay
