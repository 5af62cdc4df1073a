#include "app/override_effect.hpp"

#include <algorithm>

#include "store/override.hpp"

namespace weir::app {
namespace {

/// The parts of an override that limits of routes use.
struct Uses {
  bool of_policy = false;    ///< a limit has the policy, or one of them
  bool of_identity = false;  ///< a limit has the identity
  bool of_both = false;      ///< one limit has both
};

bool concerns(const store::Override& entry, const std::string& policy) {
  if (!entry.policy.empty()) return entry.policy == policy;
  if (entry.kind != store::Override::Kind::plan) return true;
  return std::ranges::find(entry.plan, policy, &store::PlanNumbers::policy) != entry.plan.end();
}

Uses find_uses(const OverridePut& put, const config::Config& config) {
  Uses uses;
  const auto is_named = [&](std::size_t identity) {
    return put.identity.empty() || config.identities[identity].name == put.identity;
  };
  for (const auto& route : config.routes) {
    for (const limiter::Limit& limit : route.limits) {
      const bool has_policy = concerns(put.entry, config.policies[limit.policy].name);
      const bool has_identity =
          is_named(limit.identity) || is_named(limit.otherwise.value_or(limit.identity));
      uses.of_policy |= has_policy;
      uses.of_identity |= has_identity;
      uses.of_both |= has_policy && has_identity;
    }
  }
  return uses;
}

}  // namespace

std::string ineffective_because(const OverridePut& put, const config::Config& config) {
  const Uses uses = find_uses(put, config);
  if (uses.of_both) return {};
  const std::string& policy = put.entry.policy;
  std::string limit = "no limit of a route ";
  if (!put.identity.empty() && !uses.of_identity) {
    limit += "has the key " + put.identity;
  } else if (policy.empty()) {
    limit += put.entry.kind == store::Override::Kind::plan ? "has a policy that plans change"
                                                           : "has a policy";
    if (!put.identity.empty()) limit += " with the key " + put.identity;
  } else {
    limit += "has the policy " + policy;
    if (uses.of_policy) limit += " with the key " + put.identity;
  }
  return limit + ", so this override has no effect; add such a limit, or delete the override";
}

}  // namespace weir::app
