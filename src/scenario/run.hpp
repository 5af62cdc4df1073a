// Runs a scenario: its requests in the order of their instants, on the virtual clock of an offline
// instance with the memory store. Nothing is waited for, and no connection is opened.
//
// At one instant, requests end first, then those that wait for a slot ask for it, then new ones
// arrive, those of earlier steps of the file first.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "limiter/trace.hpp"
#include "offline/instance.hpp"
#include "scenario/happened.hpp"
#include "scenario/scenario.hpp"

namespace weir::scenario {

/// A request of a step that did not meet its expectation, while its instance still has it.
struct FailedRequest {
  const config::Config& config;
  offline::Instance& instance;
  const offline::Request& request;
  const limiter::Trace& trace;
  std::span<const OverridePut> overrides;  ///< of the scenario, so far
};
/// Returns the text that explains it.
using Explain = std::function<std::string(const FailedRequest&)>;

struct StepResult {
  const Step* step = nullptr;
  // For the report, without the values of variables.
  std::string name{};       ///< of the step
  std::string request{};    ///< `POST http://api/login`, or `override`
  std::int64_t failed = 0;  ///< requests that did not meet the expectation
  // The first request that did not meet the expectation:
  std::int64_t repetition = 0;  ///< from 1
  Duration at{0};               ///< its arrival, since the start of the scenario
  std::vector<Difference> differences{};
  std::string explanation{};
  /// Differences that concern all requests together: `statuses`.
  std::vector<Difference> of_all{};

  bool is_ok() const { return failed == 0 && of_all.empty(); }
};

/// Returns a result for each step, in the order of the file. `explain` is called for the first
/// failed request of each step.
std::vector<StepResult> run(const Scenario& scenario, const Explain& explain);

}  // namespace weir::scenario
