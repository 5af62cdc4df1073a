// Checks of one section with another, after all of them are read.
#include <set>
#include <string>
#include <vector>

#include "config/sections.hpp"
#include "http/look_alike.hpp"
#include "http/request_view.hpp"

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
    for (std::size_t i = 0; i < config.limiter.identities.size(); ++i) {
      if (attribute.kind == limiter::Attribute::Kind::identity &&
          config.limiter.identities[i].name == attribute.name) {
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
            .identities = std::vector<bool>(config.limiter.identities.size()),
            .policies = std::vector<bool>(config.limiter.policies.size()),
            .token_providers = std::vector<bool>(config.limiter.token_providers.size()),
            .address_lists = {}};
  for (const options::Route& route : config.proxy.routes) {
    if (route.upstream) used.upstreams[*route.upstream] = true;
    mark_list(route.match.address, used);
    for (const limiter::Limit& limit : route.limits) {
      used.policies[limit.policy] = true;
      used.identities[limit.identity] = true;
      if (limit.otherwise) used.identities[*limit.otherwise] = true;
      mark_condition(limit.when, used);
      mark_condition(limit.unless, used);
      mark_attributes(config, config.limiter.policies[limit.policy], used);
    }
  }
  if (config.rate_limit_service) {
    for (const options::PolicyDescriptor& one : config.rate_limit_service->descriptors) {
      used.policies[one.policy] = true;
      if (one.identity) used.identities[*one.identity] = true;
    }
  }
  for (const limiter::PlanSource& source : config.limiter.plans.sources) {
    if (const auto* const file = std::get_if<limiter::PlanFromFile>(&source.from))
      used.identities[file->identity] = true;
    if (const auto* const claim = std::get_if<limiter::PlanFromClaim>(&source.from))
      mark_claims(claim->source, used);
  }
  for (std::size_t i = 0; i < config.limiter.identities.size(); ++i) {
    if (used.identities[i]) mark_claims(config.limiter.identities[i].source, used);
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
    warn_each(root.at_key("identities"), config.limiter.identities, used.identities);
  if (root.has("jwt_providers"))
    warn_each(root.at_key("jwt_providers"), config.limiter.token_providers, used.token_providers);
  if (root.has("policies"))
    warn_each(root.at_key("policies"), config.limiter.policies, used.policies);
  for (const AddressList& list : config.limiter.address_lists) {
    if (used.address_lists.contains(list.name())) continue;
    root.at_key("address_lists").at_key(list.name()).warn("no route uses it");
  }
}

namespace {

/// Reports a field that is removed before anything reads it.
void check_kept(const Cursor& in, std::string_view name) {
  if (http::is_plain_name(name)) return;
  // The message does not contain the name, which may come from a variable.
  in.error(
      "downstream.unusual_field_names: drop removes a field that is read here; choose pass, or a "
      "name of letters, digits and -");
}

void check_source(const Cursor& in, const identity::Source& source) {
  identity::each_part(source, [&](const identity::Source& part) {
    if (const std::string* const header = identity::header_of(part)) check_kept(in, *header);
  });
}

bool identifies(const Config& config, std::string_view name) {
  bool found = false;
  for (const identity::Definition& identity : config.limiter.identities) {
    identity::each_part(identity.source, [&](const identity::Source& part) {
      const std::string* const header = identity::header_of(part);
      found |= header != nullptr && http::iequals(name, *header);
    });
  }
  return found;
}

}  // namespace

void check_unusual_field_names(const Cursor& root, const Config& config) {
  if (config.proxy.downstream.unusual_field_names != options::UnusualNames::drop) return;
  check_kept(root.at_key("client_address").at_key("header"),
             config.proxy.client_address.header_name);
  for (const identity::Definition& identity : config.limiter.identities)
    check_source(root.at_key("identities").at_key(identity.name), identity.source);
  for (const limiter::Policy& policy : config.limiter.policies) {
    for (const limiter::Attribute& attribute : policy.attributes) {
      if (attribute.kind != limiter::Attribute::Kind::header) continue;
      check_source(root.at_key("policies").at_key(policy.name).at_key("attributes"),
                   attribute.source);
    }
  }
  for (std::size_t i = 0; i < config.limiter.plans.sources.size(); ++i) {
    if (const auto* from =
            std::get_if<limiter::PlanFromHeader>(&config.limiter.plans.sources[i].from))
      check_kept(root.at_key("plan_from").at(i).at_key("header"), from->name);
  }
  for (std::size_t i = 0; i < config.proxy.routes.size(); ++i) {
    for (const auto& [name, value] : config.proxy.routes[i].match.headers)
      check_kept(root.at_key("routes").at(i).at_key("match").at_key("headers").at_key(name), name);
  }
}

void warn_of_untrusted_fields(const Cursor& root, const Config& config) {
  const auto& names = config.proxy.client_address.untrusted_fields;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!identifies(config, names[i])) continue;
    root.at_key("client_address")
        .at_key("untrusted_fields")
        .at(i)
        .warn("never removed: an identity reads this field");
  }
}

}  // namespace weir::config
