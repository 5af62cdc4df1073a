// Prints the store and every route of a configuration for people: `weir check --verbose`.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "config/config.hpp"
#include "config/written.hpp"
#include "rules/policy.hpp"

namespace weir::cli {

/// Prints where use is counted, without secrets.
void print_store(std::ostream& out, const config::Config& config);
/// Prints how many prefixes each address list has.
void print_address_lists(std::ostream& out, const config::Config& config);
/// Prints the numbers of each plan and where plans come from.
void print_plans(std::ostream& out, const config::Config& config);
void print_routes(std::ostream& out, const config::Config& config);

/// Returns the algorithm and the numbers: `gcra 10/1s, 20 at once, shadow`.
std::string policy_text(const config::Shown& shown, const limiter::Policy& policy);

/// Returns the rates as the configuration has them, one text for each tier: `100/1m`, `${RATE}`.
/// `shown` is the place of the policy, or of its numbers in a plan.
std::vector<std::string> rate_texts(const config::Shown& shown, const rules::Policy& numbers);

config::Shown shown_policy(const config::Config& config, const limiter::Policy& policy);
/// The place of the numbers of a policy under a plan: `plans.gold.p`.
config::Shown shown_terms(const config::Config& config, const limiter::Policy& policy,
                          const limiter::PlannedTerms& planned);
/// The place of the rates of a policy under a plan: that of the policy itself if the plan sets
/// none.
config::Shown shown_rates(const config::Config& config, const limiter::Policy& policy,
                          const limiter::PlannedTerms& planned);

/// Whether and when the cost of a limit is held and charged: `, held until the response, charged
/// for status 401, 403`. Empty: it is charged on admission.
std::string hold_text(const config::Shown& shown, const limiter::Limit& limit,
                      const limiter::Policy& policy);

}  // namespace weir::cli
