#include "cli/explained_conditions.hpp"

#include <utility>

#include "config/key_path.hpp"

namespace weir::cli {
namespace {

using limiter::Condition;
using limiter::ConditionPart;

ConditionPart first_unmet(const config::Config& config, const Condition& condition,
                          const identity::Evidence& evidence, identity::TokenReadings& tokens) {
  return limiter::first_unmet(condition, evidence, [&](std::size_t index) {
    return identity::resolve(config.identities[index].source, evidence, config.identity_key,
                             tokens);
  });
}

void add(std::string& text, const std::string& part) {
  text += (text.empty() ? "" : ", ") + part;
}

/// Everything that the condition names holds.
std::string text_of_met(const config::Config& config, const Condition& condition,
                        const std::optional<ExplainedAddress>& address) {
  std::string text;
  if (address) add(text, "client address is in " + address->list + " (" + address->prefix + ")");
  if (!condition.methods.empty()) add(text, "method is listed");
  if (condition.identity) add(text, config.identities[*condition.identity].name + " is present");
  return text;
}

std::string text_of_unmet(const config::Config& config, const Condition& condition,
                          ConditionPart unmet) {
  switch (unmet) {
    case ConditionPart::address:
      return "client address is not in " + condition.address->name();
    case ConditionPart::methods:
      return "method is not listed";
    case ConditionPart::identity:
      return config.identities[*condition.identity].name + " is absent";
    case ConditionPart::ambiguous:
      return config.identities[*condition.identity].name + " is ambiguous";
    case ConditionPart::invalid:
      return config.identities[*condition.identity].name + " needs a valid token";
    case ConditionPart::none:
      break;
  }
  return {};
}

}  // namespace

ExplainedAddress explain_address(const config::Config& config, const AddressList& list,
                                 const IpAddress& client) {
  const std::string path = config::key_path("address_lists", list.name());
  const bool is_hidden =
      config.written.has_within(path) && !config.written.has(config::key_path(path, "file"));
  const auto prefix = list.find(client);
  return {
      .list = list.name(),
      .prefix = is_hidden || !prefix ? std::string(config::from_environment) : prefix->to_string()};
}

ExplainedConditions explain_conditions(const config::Config& config, const limiter::Limit& limit,
                                       const identity::Evidence& evidence,
                                       identity::TokenReadings& tokens) {
  ExplainedConditions all;
  for (const auto* const condition : {&limit.when, &limit.unless}) {
    if (!*condition) continue;
    const bool must_hold = condition == &limit.when;
    const ConditionPart unmet = first_unmet(config, **condition, evidence, tokens);
    ExplainedCondition one{.name = must_hold ? "when" : "unless",
                           .holds = unmet == ConditionPart::none,
                           .because = {}};
    if ((*condition)->address && unmet != ConditionPart::address)
      one.address = explain_address(config, *(*condition)->address, evidence.client);
    one.because = one.holds ? text_of_met(config, **condition, one.address)
                            : text_of_unmet(config, **condition, unmet);
    const std::string text = std::string(one.name) + ": " + one.because;
    const bool is_decided = unmet != ConditionPart::ambiguous && unmet != ConditionPart::invalid;
    all.are_met = is_decided && one.holds == must_hold;
    all.conditions.push_back(std::move(one));
    if (!all.are_met) {
      all.because = text;
      return all;
    }
    add(all.because, text);
  }
  return all;
}

}  // namespace weir::cli
