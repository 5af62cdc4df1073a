#include "app/policy_registry.hpp"

namespace weir::app {

std::vector<PolicyRegistry::Entry> PolicyRegistry::use(
    const std::vector<limiter::Policy>& policies) {
  std::vector<Entry> entries;
  for (const auto& policy : policies) {
    const Entry fresh{.id = static_cast<std::uint32_t>(names_.size())};
    const auto [place, is_new] =
        known_.try_emplace(policy.name, Known{fresh, policy.numbers, policy.planned});
    Known& known = place->second;
    if (is_new) names_.push_back(policy.name);
    if (known.numbers != policy.numbers || known.planned != policy.planned) {
      known.entry.revision += 1 + static_cast<std::uint32_t>(known.planned.size());
      known.numbers = policy.numbers;
      known.planned = policy.planned;
    }
    entries.push_back(known.entry);
  }
  return entries;
}

}  // namespace weir::app
