#include <vector>

#include "config/sections.hpp"

namespace weir::config {

namespace {

struct Used {
  std::vector<bool> upstreams, identities, policies;
};

void mark_attributes(const Config& config, const limiter::Policy& policy, Used& used) {
  for (const limiter::Attribute& attribute : policy.attributes) {
    for (std::size_t i = 0; i < config.identities.size(); ++i) {
      if (attribute.kind == limiter::Attribute::Kind::identity &&
          config.identities[i].name == attribute.name) {
        used.identities[i] = true;
      }
    }
  }
}

Used find_used(const Config& config) {
  Used used{.upstreams = std::vector<bool>(config.upstreams.size()),
            .identities = std::vector<bool>(config.identities.size()),
            .policies = std::vector<bool>(config.policies.size())};
  for (const proxy::Route& route : config.routes) {
    if (route.upstream) used.upstreams[*route.upstream] = true;
    for (const limiter::Limit& limit : route.limits) {
      used.policies[limit.policy] = true;
      used.identities[limit.identity] = true;
      if (limit.otherwise) used.identities[*limit.otherwise] = true;
      mark_attributes(config, config.policies[limit.policy], used);
    }
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
  if (root.has("policies")) warn_each(root.at_key("policies"), config.policies, used.policies);
}

}  // namespace weir::config
