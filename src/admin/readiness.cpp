#include "admin/readiness.hpp"

#include <atomic>
#include <utility>

namespace weir::admin {
namespace {

/// True if every policy that limits anything denies while Redis does not decide.
bool stands_and_falls_with_store(const Instruments& instruments) {
  bool denies = false;
  for (const auto& route : instruments.proxy.routes) {
    for (const auto& limit : route.limits) {
      const auto& policy = instruments.limiter.policies[limit.policy];
      if (policy.shadow) continue;
      if (policy.on_failure != limiter::OnFailure::deny) return false;
      denies = true;
    }
  }
  return denies;
}

/// Returns a line for each provider. An instance without keys stays ready: other instances would
/// not have them either, and requests without a token are served.
std::vector<std::string> problems_of_keys(const Instruments& instruments) {
  std::vector<std::string> problems;
  for (const KeySource& source : instruments.keys) {
    if (const std::string problem = source.health->degraded(); !problem.empty())
      problems.push_back("jwt provider " + source.provider + ": " + problem);
  }
  return problems;
}

}  // namespace

ReadinessReport report_readiness(const Instruments& instruments) {
  switch (instruments.readiness.load(std::memory_order_relaxed)) {
    case Readiness::starting:
      return {.state = "starting"};
    case Readiness::ready:
      break;
    case Readiness::draining:
      return {.state = "draining"};
  }
  const StoreHealth* const health = instruments.store_health;
  const std::string error = health == nullptr ? std::string() : health->last_error();
  ReadinessReport report{.state = {}, .problems = problems_of_keys(instruments)};
  if (!error.empty()) report.problems.insert(report.problems.begin(), error);
  if (health != nullptr) {
    InstancesStatus instances = health->instances();
    if (!instances.problem.empty()) report.problems.push_back(std::move(instances.problem));
    report.replicas = instruments.replicas.value_or(instances.replicas);
  }
  report.is_ready = error.empty() || !stands_and_falls_with_store(instruments);
  report.state = report.is_ready ? "ready" : "unready";
  return report;
}

}  // namespace weir::admin
