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

/// Returns the rates of the policy at `policy_path` (`policies.p`) as the configuration has them,
/// one text for each tier: `100/1m`, `${RATE}`.
std::vector<std::string> rate_texts(const config::Written& written, const std::string& policy_path,
                                    const rules::Policy& numbers);

/// Returns the path of the key that has the rates of a policy under a plan: that of the policy in
/// the plan (`plans.gold.p`), or of the policy itself if the plan sets none.
std::string rates_path(const config::Config& config, const limiter::Policy& policy,
                       const limiter::PlannedTerms& planned);

/// Formats a duration as in the configuration, in the largest unit that fits exactly: `90s`, `1m`,
/// `250us`.
std::string duration_text(Duration duration);

/// Whether and when the cost of a limit is held and charged: `, held until the response, charged
/// for status 401, 403`. Empty: it is charged on admission.
std::string hold_text(const config::Written& written, const std::string& limit_path,
                      const limiter::Limit& limit, const limiter::Policy& policy);

}  // namespace weir::cli
