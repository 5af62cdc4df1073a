#include "limiter/local_shares.hpp"

#include <utility>

#include "rules/share.hpp"

namespace weir::limiter {
namespace {

/// `index`: see Policy::index_of().
const Terms& terms_at(const Policy& policy, std::size_t index) {
  return policy.terms_of(index == 0 ? nullptr : &policy.planned[index - 1]);
}

}  // namespace

Result<rules::Policy, rules::Fault> local_share(const Policy& policy, const rules::Policy& numbers,
                                                std::int64_t instances) {
  if (policy.on_failure != OnFailure::local) return numbers;
  return rules::share_of(numbers, instances);
}

LocalShares::LocalShares(const std::vector<Policy>& policies) : policies_(policies) {
  shares_.reserve(policies.size());
  for (const Policy& policy : policies) {
    auto& shares = shares_.emplace_back();
    shares.reserve(1 + policy.planned.size());
    for (std::size_t terms = 0; terms <= policy.planned.size(); ++terms)
      shares.push_back({terms_at(policy, terms).numbers, policy.on_failure});
  }
}

LocalShare LocalShares::share_of(const Policy& policy, const rules::Policy& numbers) const {
  auto share = local_share(policy, numbers, instances_);
  if (!share) return {numbers, OnFailure::deny};
  return {*std::move(share), policy.on_failure};
}

std::vector<std::string> LocalShares::divide(std::int64_t instances) {
  std::vector<std::string> without_share;
  if (instances == instances_) return without_share;
  for (std::size_t i = 0; i < policies_.size(); ++i) {
    const Policy& policy = policies_[i];
    bool has_shares = true;
    for (std::size_t terms = 0; terms < shares_[i].size(); ++terms) {
      LocalShare& share = shares_[i][terms];
      auto numbers = local_share(policy, terms_at(policy, terms).numbers, instances);
      has_shares &= numbers.has_value();
      share.on_failure = numbers ? policy.on_failure : OnFailure::deny;
      // Without a share the numbers stay, for the holds that they have granted.
      if (numbers) share.numbers = *std::move(numbers);
    }
    if (!has_shares) without_share.push_back(policy.name);
  }
  instances_ = instances;
  return without_share;
}

}  // namespace weir::limiter
