#include <set>
#include <string>
#include <vector>

#include "config/sections.hpp"

namespace weir::config {

namespace {

struct Used {
  std::vector<bool> upstreams, identities, policies, token_providers;
  std::set<std::string> address_lists;  ///< names
};

void mark_claims(const identity::Source& source, Used& used) {
  identity::each_part(source, [&](const identity::Source& part) {
    if (const auto* const claim = std::get_if<identity::FromClaim>(&part.from))
      used.token_providers[claim->provider_index] = true;
  });
}

void mark_attributes(const Config& config, const limiter::Policy& policy, Used& used) {
  for (const limiter::Attribute& attribute : policy.attributes) {
    mark_claims(attribute.source, used);
    for (std::size_t i = 0; i < config.identities.size(); ++i) {
      if (attribute.kind == limiter::Attribute::Kind::identity &&
          config.identities[i].name == attribute.name) {
        used.identities[i] = true;
      }
    }
  }
}

void mark_list(const std::optional<AddressList>& list, Used& used) {
  if (list) used.address_lists.insert(list->name());
}

void mark_condition(const std::optional<limiter::Condition>& condition, Used& used) {
  if (!condition) return;
  mark_list(condition->address, used);
  if (condition->identity) used.identities[*condition->identity] = true;
}

Used find_used(const Config& config) {
  Used used{.upstreams = std::vector<bool>(config.upstreams.size()),
            .identities = std::vector<bool>(config.identities.size()),
            .policies = std::vector<bool>(config.policies.size()),
            .token_providers = std::vector<bool>(config.token_providers.size()),
            .address_lists = {}};
  for (const proxy::Route& route : config.routes) {
    if (route.upstream) used.upstreams[*route.upstream] = true;
    mark_list(route.match.address, used);
    for (const limiter::Limit& limit : route.limits) {
      used.policies[limit.policy] = true;
      used.identities[limit.identity] = true;
      if (limit.otherwise) used.identities[*limit.otherwise] = true;
      mark_condition(limit.when, used);
      mark_condition(limit.unless, used);
      mark_attributes(config, config.policies[limit.policy], used);
    }
  }
  for (const limiter::PlanSource& source : config.plans.sources) {
    if (const auto* const file = std::get_if<limiter::PlanFromFile>(&source.from))
      used.identities[file->identity] = true;
    if (const auto* const claim = std::get_if<limiter::PlanFromClaim>(&source.from))
      mark_claims(claim->source, used);
  }
  for (std::size_t i = 0; i < config.identities.size(); ++i) {
    if (used.identities[i]) mark_claims(config.identities[i].source, used);
  }
  return used;
}

template <class Named>
void warn_each(const Cursor& section, const std::vector<Named>& all,
               const std::vector<bool>& used) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (used[i] || !section.has(all[i].name)) continue;
    section.at_key(all[i].name).warn("no route uses it");
  }
}

}  // namespace

void warn_of_unused(const Cursor& root, const Config& config) {
  const Used used = find_used(config);
  if (root.has("upstreams")) warn_each(root.at_key("upstreams"), config.upstreams, used.upstreams);
  if (root.has("identities"))
    warn_each(root.at_key("identities"), config.identities, used.identities);
  if (root.has("jwt_providers"))
    warn_each(root.at_key("jwt_providers"), config.token_providers, used.token_providers);
  if (root.has("policies")) warn_each(root.at_key("policies"), config.policies, used.policies);
  for (const AddressList& list : config.address_lists) {
    if (used.address_lists.contains(list.name())) continue;
    root.at_key("address_lists").at_key(list.name()).warn("no route uses it");
  }
}

}  // namespace weir::config
