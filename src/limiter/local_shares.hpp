// This instance's shares of the quotas, for the time while the shared store does not decide.
//
// Belongs to one limiter, whose claims point to the shares. divide() replaces their numbers in
// place, so holds that were taken with a former share settle with the present one. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "limiter/policy.hpp"
#include "rules/policy.hpp"

namespace weir::limiter {

/// Returns the share of one of `instances` of the policy's `numbers`, or those of a plan: the
/// numbers themselves if the policy does not decide locally. Fails as rules::share_of().
Result<rules::Policy, rules::Fault> local_share(const Policy& policy, const rules::Policy& numbers,
                                                std::int64_t instances);

struct LocalShare {
  rules::Policy numbers;
  /// That of the policy, but `deny` if it is `local` and there are more instances than units.
  OnFailure on_failure;
};

class LocalShares {
 public:
  /// The shares of a single instance, which are the policies themselves.
  explicit LocalShares(const std::vector<Policy>& policies);

  /// Divides the quotas among so many instances. Returns the names of the policies that have no
  /// share then; empty if the number is the same as before.
  std::vector<std::string> divide(std::int64_t instances);

  /// Returns the share of numbers that the policy does not have.
  LocalShare share_of(const Policy& policy, const rules::Policy& numbers) const;

  /// `terms`: their index (Policy::index_of).
  const LocalShare& of(std::size_t policy, std::size_t terms) const {
    return shares_[policy][terms];
  }

 private:
  const std::vector<Policy>& policies_;
  std::int64_t instances_ = 1;
  std::vector<std::vector<LocalShare>> shares_;  ///< by policy, by terms
};

}  // namespace weir::limiter
