// The parts of the text report about other rates and another configuration. Pure.
#pragma once

#include <string>
#include <vector>

#include "replay/flips.hpp"
#include "replay/rate_report.hpp"

namespace weir::replay {

/// A line for each multiple of the configured rate; round rates are left out.
void append_rates(std::string& out, const std::vector<PolicyRates>& policies);
void append_suggestions(std::string& out, const Suggestions& suggestions);
void append_flips(std::string& out, const FlipReport& flips);

}  // namespace weir::replay
