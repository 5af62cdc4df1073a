// What a configuration comes to, for people: the store, and every route.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "config/config.hpp"
#include "config/written.hpp"
#include "rules/policy.hpp"

namespace weir::cli {

/// Where use is counted; without secrets.
void print_store(std::ostream& out, const config::Config& config);
void print_routes(std::ostream& out, const config::Config& config);

/// The rates of the policy at `policy_path` (`policies.p`) as the configuration has them, one text
/// for each tier: `100/1m`, `${RATE}`.
std::vector<std::string> rate_texts(const config::Written& written, const std::string& policy_path,
                                    const rules::Policy& rule);

/// As the configuration writes it, in the largest unit that fits exactly: `90s`, `1m`, `250us`.
std::string duration_text(Duration duration);

}  // namespace weir::cli
