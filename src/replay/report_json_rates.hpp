// The members of the JSON report about other rates, another configuration and the timeline. Pure.
#pragma once

#include <string>
#include <vector>

#include "replay/flips.hpp"
#include "replay/rate_report.hpp"
#include "replay/timeline.hpp"

namespace weir::replay {

/// Each returns JSON text.
std::string rates_json(const std::vector<PolicyRates>& policies);
std::string suggestions_json(const Suggestions& suggestions);
std::string flips_json(const FlipReport& flips);
std::string timeline_json(const Timeline& timeline);

}  // namespace weir::replay
