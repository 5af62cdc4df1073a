// One instance's share of a policy, while instances decide without the shared store.
//
// Over any period, the shares of all instances together never admit more than the policy itself; a
// remainder that does not divide is not used. Pure.
#pragma once

#include <cstdint>

#include "rules/policy.hpp"

namespace weir::rules {

/// Returns the share, or the policy itself for one instance. Fails if no share admits anything: the
/// quota, or the units usable at once, are fewer than `instances`.
Result<Policy, Fault> share_of(const Policy& policy, std::int64_t instances);

}  // namespace weir::rules
