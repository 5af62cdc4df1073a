#include "app/differences.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace weir::app {
namespace {

using Keys = std::vector<std::string>;

template <class Value>
void compare(Keys& keys, std::string_view key, const Value& before, const Value& after) {
  if (before != after) keys.emplace_back(key);
}

/// Entries with their names, which belong to `section`, whatever their order.
template <class Entry, class Same>
void compare_named(Keys& keys, const std::string& section, const std::vector<Entry>& before,
                   const std::vector<Entry>& after, Same&& same) {
  std::multimap<std::string_view, const Entry*> gone;
  for (const Entry& entry : before)
    gone.emplace(entry.name, &entry);
  std::set<std::string_view> added;  // some may share a name
  const auto add = [&](std::string_view name) {
    if (added.insert(name).second) keys.push_back(section + '.' + std::string(name));
  };
  for (const Entry& entry : after) {
    const auto known = gone.find(entry.name);
    const bool is_known = known != gone.end();
    if (!is_known || !same(*known->second, entry)) add(entry.name);
    if (is_known) gone.erase(known);
  }
  for (const auto& [name, entry] : gone)
    add(name);
}

/// With names in place of the indexes, which move when other entries come and go.
class NamedRoute {
 public:
  NamedRoute(const config::Config& config, const proxy::Route& route) : route_(route) {
    if (route_.upstream) {
      names_.push_back(config.upstreams[*route_.upstream].name);
      route_.upstream = 0;
    }
    for (limiter::Limit& limit : route_.limits) {
      names_.push_back(config.policies[limit.policy].name);
      names_.push_back(config.identities[limit.identity].name);
      if (limit.otherwise) names_.push_back(config.identities[*limit.otherwise].name);
      limit.policy = limit.identity = 0;
      if (limit.otherwise) limit.otherwise = 0;
      name_parts(config, limit.when);
      name_parts(config, limit.unless);
    }
  }
  friend bool operator==(const NamedRoute&, const NamedRoute&) = default;

 private:
  void name_parts(const config::Config& config, std::optional<limiter::Condition>& condition) {
    if (!condition) return;
    for (std::size_t& plan : condition->plans) {
      names_.push_back(config.plans.names[plan]);
      plan = 0;
    }
    if (!condition->identity) return;
    names_.push_back(config.identities[*condition->identity].name);
    condition->identity = 0;
  }

  proxy::Route route_;
  std::vector<std::string> names_;
};

/// The settings of a provider, with those of the URL of its keys.
bool is_same_provider(const config::Config& before, const identity::TokenProvider& a,
                      const config::Config& after, const identity::TokenProvider& b) {
  const auto url_of = [](const config::Config& config, const std::string& provider) {
    const auto& all = config.key_urls;
    const auto found = std::ranges::find(all, provider, &config::KeyUrl::provider);
    return found == all.end() ? config::KeyUrl() : *found;
  };
  return a == b && url_of(before, a.name) == url_of(after, b.name);
}

void compare_lists(Keys& keys, const std::vector<AddressList>& before,
                   const std::vector<AddressList>& after) {
  const auto find = [](const std::vector<AddressList>& all, const AddressList& wanted) {
    return std::find(all.begin(), all.end(), wanted);
  };
  for (const AddressList& list : after) {
    const auto known = find(before, list);
    if (known == before.end() || !known->has_same_prefixes(list))
      keys.push_back("address_lists." + list.name());
  }
  for (const AddressList& list : before) {
    if (find(after, list) == after.end()) keys.push_back("address_lists." + list.name());
  }
}

/// A plan with the numbers that it gives to policies.
struct NamedPlan {
  std::string name;
  std::vector<std::pair<std::string, limiter::PlannedTerms>> planned{};  ///< by policy
};

std::vector<NamedPlan> plans_of(const config::Config& config) {
  std::vector<NamedPlan> plans;
  for (const std::string& name : config.plans.names)
    plans.push_back({.name = name});
  for (const limiter::Policy& policy : config.policies) {
    for (const limiter::PlannedTerms& one : policy.planned) {
      limiter::PlannedTerms planned = one;
      planned.plan = 0;
      plans[one.plan].planned.emplace_back(policy.name, std::move(planned));
    }
  }
  for (NamedPlan& plan : plans)
    std::ranges::sort(plan.planned, {}, [](const auto& one) { return one.first; });
  return plans;
}

/// The text of a source, and the table of a file, which may be large.
struct NamedSource {
  std::string text;
  const limiter::PlanTable* table = nullptr;
  friend bool operator==(const NamedSource& a, const NamedSource& b) {
    return a.text == b.text && (a.table == b.table ||
                                (a.table != nullptr && b.table != nullptr && *a.table == *b.table));
  }
};

std::vector<NamedSource> sources_of(const config::Config& config) {
  std::vector<NamedSource> sources;
  for (const limiter::PlanSource& source : config.plans.sources) {
    NamedSource& named = sources.emplace_back(NamedSource{.text = limiter::describe(source)});
    const auto* const file = std::get_if<limiter::PlanFromFile>(&source.from);
    if (file == nullptr) continue;
    named.text += " of " + config.identities[file->identity].name;
    named.table = &file->table.current();
  }
  return sources;
}

void compare_plans(Keys& keys, const config::Config& before, const config::Config& after) {
  compare_named(keys, "plans", plans_of(before), plans_of(after),
                [](const NamedPlan& a, const NamedPlan& b) { return a.planned == b.planned; });
  compare(keys, "plan_from", sources_of(before), sources_of(after));
  const auto default_of = [](const limiter::Plans& plans) {
    return plans.default_plan ? plans.names[*plans.default_plan] : std::string();
  };
  compare(keys, "default_plan", default_of(before.plans), default_of(after.plans));
}

/// Without the numbers of plans, which compare_plans() compares.
bool is_same_policy(limiter::Policy a, limiter::Policy b) {
  a.planned.clear();
  b.planned.clear();
  return a == b;
}

Keys names_of(const std::vector<proxy::Route>& routes) {
  Keys names;
  for (const auto& route : routes)
    names.push_back(route.name);
  return names;
}

bool is_reordered(const config::Config& before, const config::Config& after) {
  Keys old_names = names_of(before.routes);
  Keys new_names = names_of(after.routes);
  if (old_names == new_names) return false;
  std::sort(old_names.begin(), old_names.end());
  std::sort(new_names.begin(), new_names.end());
  return old_names == new_names;
}

void compare_routes(Keys& keys, const config::Config& before, const config::Config& after) {
  if (is_reordered(before, after)) keys.emplace_back("routes");
  compare_named(keys, "routes", before.routes, after.routes,
                [&](const proxy::Route& a, const proxy::Route& b) {
                  return NamedRoute(before, a) == NamedRoute(after, b);
                });
}

}  // namespace

std::vector<std::string> keep_fixed(config::Config& next, const config::Config& running) {
  Keys keys;
  compare(keys, "workers", running.workers, next.workers);
  compare(keys, "identity_secret", running.identity_key, next.identity_key);
  compare(keys, "store.type", running.store_type, next.store_type);
  next.workers = running.workers;
  next.identity_key = running.identity_key;
  if (next.store_type != running.store_type) {
    next.store_type = running.store_type;
    next.redis = running.redis;
  }
  return keys;
}

std::vector<std::string> differences(const config::Config& before, const config::Config& after) {
  Keys keys;
  compare(keys, "listen", before.listen, after.listen);
  compare(keys, "admin", before.admin, after.admin);
  compare(keys, "shutdown_timeout", before.shutdown_timeout, after.shutdown_timeout);
  compare(keys, "client_address", before.client_address, after.client_address);
  compare(keys, "downstream", before.downstream, after.downstream);
  compare(keys, "paths", before.path_variants, after.path_variants);
  compare(keys, "response_headers", before.response_fields, after.response_fields);
  compare(keys, "denied", before.denied, after.denied);
  compare(keys, "access_log", before.access_log, after.access_log);
  compare(keys, "store.memory", before.memory, after.memory);
  compare(keys, "store.redis", before.redis, after.redis);
  const auto same = [](const auto& a, const auto& b) { return a == b; };
  compare_named(keys, "upstreams", before.upstreams, after.upstreams, same);
  compare_named(
      keys, "jwt_providers", before.token_providers, after.token_providers,
      [&](const auto& a, const auto& b) { return is_same_provider(before, a, after, b); });
  compare_named(keys, "identities", before.identities, after.identities, same);
  compare_lists(keys, before.address_lists, after.address_lists);
  compare_named(keys, "policies", before.policies, after.policies, is_same_policy);
  compare_plans(keys, before, after);
  compare_routes(keys, before, after);
  return keys;
}

}  // namespace weir::app
