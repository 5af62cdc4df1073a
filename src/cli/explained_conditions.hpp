// The conditions of a limit and the address list of a route in the output of `weir explain`. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/explanation.hpp"
#include "config/config.hpp"
#include "identity/identity.hpp"
#include "identity/token_readings.hpp"
#include "limiter/policy.hpp"

namespace weir::cli {

/// The conditions of a limit in the order in which the limiter evaluates them. One that decides
/// that the limit does not apply is the last.
struct ExplainedConditions {
  std::vector<ExplainedCondition> conditions;
  bool are_met = true;
  std::string because;  ///< why they are met, or are not: `unless: client address is in office`
};

ExplainedConditions explain_conditions(const config::Config& config, const limiter::Limit& limit,
                                       const identity::Evidence& evidence,
                                       identity::TokenReadings& tokens);

/// Reads the plan of the request as the limiter does.
limiter::PlanReading read_plan(const config::Config& config, const identity::Evidence& evidence,
                               identity::TokenReadings& tokens);
ExplainedPlan explain_plan(const config::Config& config, const limiter::PlanReading& reading);

/// `list` contains `client`. The prefix is not shown if one of the list comes from a variable.
ExplainedAddress explain_address(const config::Config& config, const AddressList& list,
                                 const IpAddress& client);

}  // namespace weir::cli
