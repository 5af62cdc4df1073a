#include <utility>

#include "cli/explanation.hpp"

namespace weir::cli {
namespace {

using limiter::Condition;
using limiter::ConditionPart;

std::string plan_reading(const config::Config& config, const limiter::PlanReading& reading) {
  const auto plan = reading.found();
  return plan ? "plan " + config.limiter.plans.names[*plan] : "no plan";
}

void add_reason(std::string& text, const std::string& part) {
  text += (text.empty() ? "" : ", ") + part;
}

/// Everything that the condition names holds.
std::string text_of_met(const config::Config& config, const Condition& condition,
                        const limiter::PlanReading& plan,
                        const std::optional<ExplainedAddress>& address) {
  std::string text;
  if (address)
    add_reason(text, "client address is in " + address->list + " (" + address->prefix + ")");
  if (!condition.methods.empty()) add_reason(text, "method is listed");
  if (condition.identity)
    add_reason(text, config.limiter.identities[*condition.identity].name + " is present");
  if (!condition.plans.empty()) add_reason(text, plan_reading(config, plan) + " is listed");
  return text;
}

std::string text_of_unmet(const config::Config& config, const Condition& condition,
                          const limiter::PlanReading& plan, ConditionPart unmet) {
  switch (unmet) {
    case ConditionPart::address:
      return "client address is not in " + condition.address->name();
    case ConditionPart::methods:
      return "method is not listed";
    case ConditionPart::identity:
      return config.limiter.identities[*condition.identity].name + " is absent";
    case ConditionPart::ambiguous:
      return config.limiter.identities[*condition.identity].name + " is ambiguous";
    case ConditionPart::invalid:
      return config.limiter.identities[*condition.identity].name + " needs a valid token";
    case ConditionPart::plan:
      return plan_reading(config, plan) + (plan.found() ? " is not listed" : " is in force");
    case ConditionPart::ambiguous_plan:
      return "the plan is ambiguous";
    case ConditionPart::invalid_plan:
      return "the plan needs a valid token";
    case ConditionPart::none:
      break;
  }
  return {};
}

}  // namespace

ExplainedPlan explain_plan(const config::Config& config, const limiter::PlanReading& reading) {
  ExplainedPlan plan;
  if (const auto found = reading.found()) plan.name = config.limiter.plans.names[*found];
  if (reading.source) {
    plan.from =
        config.shown()["plan_from"][*reading.source](config.limiter.plans.sources[*reading.source]);
  }
  if (reading.state == limiter::PlanReading::State::ambiguous) {
    plan.from += ": ambiguous";
  } else if (reading.token_fault) {
    plan.from += ": the token is invalid or cannot be verified";
  } else if (!reading.source || reading.is_unknown) {
    const std::string why = reading.is_unknown ? plan.from + " names an unknown plan"
                                               : std::string("no source names a plan");
    plan.from = (config.limiter.plans.default_plan ? "default_plan: " : "") + why;
  }
  return plan;
}

ExplainedAddress explain_address(const config::Config& config, const AddressList& list,
                                 const IpAddress& client) {
  const config::Shown shown = config.shown()["address_lists"][list.name()];
  const bool is_hidden = shown.is_hidden() && !shown["file"].is_hidden();
  const auto prefix = list.find(client);
  return {.list = list.name(),
          .prefix = config::unless_hidden(is_hidden || !prefix, prefix ? prefix->to_string() : "")};
}

bool decides(const limiter::TracedCondition& condition) {
  return condition.holds != condition.is_when || condition.unmet == ConditionPart::ambiguous ||
         condition.unmet == ConditionPart::ambiguous_plan;
}

std::string explain_conditions(const config::Config& config, const limiter::TracedLimit& limit,
                               const limiter::PlanReading& plan, const IpAddress& client,
                               std::vector<ExplainedCondition>& to) {
  std::string because;
  for (const limiter::TracedCondition& traced : limit.conditions) {
    const Condition& condition = traced.is_when ? *limit.limit->when : *limit.limit->unless;
    ExplainedCondition one{
        .name = traced.is_when ? "when" : "unless", .holds = traced.holds, .because = {}};
    if (condition.address && traced.unmet != ConditionPart::address)
      one.address = explain_address(config, *condition.address, client);
    one.because = one.holds ? text_of_met(config, condition, plan, one.address)
                            : text_of_unmet(config, condition, plan, traced.unmet);
    const std::string text = std::string(one.name) + ": " + one.because;
    to.push_back(std::move(one));
    if (decides(traced)) return text;
    add_reason(because, text);
  }
  return because;
}

}  // namespace weir::cli
