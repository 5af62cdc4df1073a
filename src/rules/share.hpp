// One instance's share of a policy, for the time in which instances decide without asking each
// other.
//
// Whatever each instance is asked, the shares of all together never admit more over any stretch
// of time than the policy itself allows; what does not divide is not handed out. Pure.
#pragma once

#include <cstdint>

#include "rules/policy.hpp"

namespace weir::rules {

/// The policy itself for one instance. The fault says why there is no share that admits
/// anything: the quota, or what of it is usable at once, is smaller than `instances`.
Result<Policy, Fault> share_of(const Policy& policy, std::int64_t instances);

}  // namespace weir::rules
