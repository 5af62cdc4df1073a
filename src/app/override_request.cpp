#include "app/override_request.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "app/override_members.hpp"
#include "app/query_parameters.hpp"
#include "config/data_files.hpp"
#include "config/key_path.hpp"
#include "config/suggest.hpp"
#include "config/written.hpp"
#include "identity/written_key.hpp"

namespace weir::app {
namespace {

using store::Override;

constexpr std::string_view hash_scheme = "hash:";

/// The names of entries, each once, in the order in which they were added.
class NamesOnce {
 public:
  explicit NamesOnce(std::size_t entries) : has_(entries) {}
  void add(std::size_t index, std::string_view name) {
    if (has_[index]) return;
    has_[index] = true;
    names.push_back(name);
  }
  std::vector<std::string_view> names{};

 private:
  std::vector<bool> has_;
};

/// A policy that applies, and the identities that it counts.
struct LimitUse {
  std::size_t policy = 0;
  std::size_t identity = 0;
  std::size_t otherwise = 0;  ///< the same, if the limit has no other one
};

void add_uses(const std::vector<options::DescriptorNode>& nodes, std::size_t identity,
              std::vector<LimitUse>& to) {
  for (const options::DescriptorNode& node : nodes) {
    if (node.limit && node.limit->policy) to.push_back({*node.limit->policy, identity, identity});
    add_uses(node.children, identity, to);
  }
}

/// Those of routes, then those of the rate limit service.
std::vector<LimitUse> uses_of(const config::Config& config) {
  std::vector<LimitUse> uses;
  for (const auto& route : config.proxy.routes) {
    for (const auto& limit : route.limits)
      uses.push_back({limit.policy, limit.identity, limit.otherwise.value_or(limit.identity)});
  }
  if (!config.rate_limit_service) return uses;
  const options::RateLimitService& service = *config.rate_limit_service;
  for (const options::DescriptorDomain& domain : service.domains)
    add_uses(domain.descriptors, service.identity, uses);
  for (const options::PolicyDescriptor& one : service.descriptors) {
    const std::size_t identity = one.identity.value_or(service.identity);
    uses.push_back({one.policy, identity, identity});
  }
  return uses;
}

/// The names that limits use, in their order.
struct UsedNames {
  std::vector<std::string_view> policies{};
  std::vector<std::string_view> identities{};
};

UsedNames used_names(const config::Config& config) {
  const auto& all_policies = config.limiter.policies;
  const auto& all_identities = config.limiter.identities;
  NamesOnce policies(all_policies.size()), identities(all_identities.size());
  for (const LimitUse& use : uses_of(config)) {
    policies.add(use.policy, all_policies[use.policy].name);
    for (const std::size_t index : {use.identity, use.otherwise})
      identities.add(index, all_identities[index].name);
  }
  return {.policies = std::move(policies.names), .identities = std::move(identities.names)};
}

/// `a, b, c`, or the first of them and how many more there are.
std::string choice_of(std::span<const std::string_view> names) {
  constexpr std::size_t most = 20;
  if (names.size() <= most) return config::list_of(names);
  return config::list_of(names.first(most)) + " and " + std::to_string(names.size() - most) +
         " more";
}

/// The identity of that name; without a name the only one that limits use. nullptr: there is none.
const identity::Definition* find_identity(std::string_view name, const config::Config& config) {
  if (name.empty()) {
    const auto used = used_names(config).identities;
    if (used.size() != 1) return nullptr;
    name = used.front();
  }
  const auto& all = config.limiter.identities;
  const auto found = std::ranges::find(all, name, &identity::Definition::name);
  return found == all.end() ? nullptr : &*found;
}

Problem missing_identity(const config::Config& config) {
  const auto used = used_names(config).identities;
  return Problem{"identity is missing: name the identity that the key belongs to" +
                 (used.empty() ? "" : "; limits use " + choice_of(used))};
}

Problem no_identity(std::string_view name, const config::Config& config) {
  std::vector<std::string_view> names;
  for (const identity::Definition& one : config.limiter.identities)
    names.push_back(one.name);
  return Problem{"identity: no identity has the name " + config::in_quotes(name) +
                 config::hint(name, names)};
}

Result<OverrideKey> hashed(const OverrideOwner& written) {
  const auto hash = hash_from_hex(written.key.substr(hash_scheme.size()));
  if (!hash) return Problem{"key: a hash has 32 hexadecimal digits, as in the access log"};
  return OverrideKey{.identity = std::string(written.identity), .hash = *hash};
}

Problem no_request(const identity::Definition& identity, const config::Config& config) {
  if (std::holds_alternative<identity::FromClientAddress>(identity.source.from)) {
    return Problem{"key: expected an address, or a network with the prefix that is counted (/" +
                   std::to_string(config.proxy.client_address.ipv4_prefix) + " for IPv4, /" +
                   std::to_string(config.proxy.client_address.ipv6_prefix) + " for IPv6)"};
  }
  return Problem{"key: no request can carry this value as " + identity.name + " (" +
                 identity::describe(identity.source) + ")"};
}

/// The value has several keys: an override of one would have no effect on the others.
Problem several_keys(const identity::Definition& identity,
                     const std::vector<identity::WrittenKey>& keys) {
  const std::string fix = "; write hash:HEX of the one that is meant: `weir hash --identity " +
                          identity.name + "` prints each, and the access log has it";
  if (!std::holds_alternative<identity::FromClaim>(identity.source.from)) {
    return Problem{"key: the identity " + identity.name +
                   " reads several places, and each has its own key" + fix};
  }
  const bool is_number = keys.back().source.ends_with("(a number)");
  return Problem{"key: the claim of the identity " + identity.name + " may be a string or a " +
                 (is_number ? "number" : "boolean") + " with this value, and each has its own key" +
                 fix};
}

/// Policies in an override with a plan for all policies: each decision reads all of them.
constexpr std::size_t most_planned = 64;

Result<std::size_t> find_plan(std::string_view name, const config::Config& config) {
  const auto& plans = config.limiter.plans;
  if (const auto plan = plans.find(name)) return *plan;
  const std::vector<std::string_view> known(plans.names.begin(), plans.names.end());
  return Problem{"plan: no plan has the name " + config::in_quotes(name) +
                 config::hint(name, known)};
}

/// Returns the plan of a key whose requests are not known: that of a file, else the default.
std::optional<std::size_t> plan_of_key(std::string_view identity, const Hash128& key,
                                       const config::Config& config) {
  const identity::Definition* const found = find_identity(identity, config);
  if (found == nullptr) return config.limiter.plans.default_plan;
  const auto index = static_cast<std::size_t>(found - config.limiter.identities.data());
  return limiter::plan_of(config.limiter.plans, index, key);
}

Result<const limiter::Policy*> find_policy(std::string_view name, const config::Config& config) {
  std::vector<std::string_view> names;
  for (const limiter::Policy& policy : config.limiter.policies) {
    if (policy.name == name) return &policy;
    names.push_back(policy.name);
  }
  return Problem{"policy: no policy has the name " + config::in_quotes(name) +
                 config::hint(name, names)};
}

std::uint32_t id_of(std::string_view policy, const OverrideContext& context) {
  const auto& names = context.policy_names;
  return static_cast<std::uint32_t>(std::ranges::find(names, policy) - names.begin());
}

/// Sets the numbers of an override for one policy; empty: no limit. Returns what is wrong.
std::string set_numbers(const std::optional<rules::Policy>& numbers, const limiter::Policy& policy,
                        Override& entry) {
  entry.kind = numbers ? Override::Kind::numbers : Override::Kind::unlimited;
  if (!numbers) return {};
  entry.numbers = *numbers;
  if (numbers->capacity >= policy.cost) return {};
  return "policy " + policy.name +
         ": these numbers are below its cost, so no request would pass; use more, or deny";
}

std::string read_numbers(const WrittenOverride& written, const limiter::Policy& policy,
                         bool hides_numbers, Override& entry) {
  if (limiter::is_concurrency(policy) && written.queue) {
    return "queue: an override cannot change the queue of a concurrency policy, which belongs to "
           "the instance; change it in the configuration, or override limit";
  }
  rules::Definition definition = policy.definition;
  if (!written.rates.empty()) definition.rates = written.rates;
  if (written.burst) definition.burst = written.burst;
  if (written.limit) definition.limit = written.limit;
  if (written.queue) definition.queue = written.queue;
  const auto numbers = rules::compile(definition);
  if (numbers) return set_numbers(*numbers, policy, entry);
  // The policy's own numbers may have to be hidden.
  const std::string& problem = numbers.error().message;
  return "policy " + policy.name + ": " +
         (hides_numbers ? config::without_numbers(problem) : problem);
}

/// Empty: the plan sets unlimited.
std::optional<rules::Policy> planned_numbers(const limiter::Policy& policy, std::size_t plan) {
  const limiter::PlannedTerms* const planned = policy.under(plan);
  if (planned == nullptr) return policy.numbers;
  return planned->unlimited ? std::nullopt : std::optional(planned->terms.numbers);
}

/// `policy`: nullptr for all policies.
std::string read_plan(std::string_view name, const limiter::Policy* policy,
                      const OverrideContext& context, Override& entry) {
  const auto plan = find_plan(name, context.config);
  if (!plan) return plan.error().message;
  if (policy != nullptr) return set_numbers(planned_numbers(*policy, *plan), *policy, entry);
  entry.kind = Override::Kind::plan;
  for (const limiter::Policy& one : context.config.limiter.policies) {
    // Policies that no plan changes have their own numbers under each plan.
    if (one.planned.empty()) continue;
    entry.plan.push_back({.policy = one.name,
                          .policy_id = id_of(one.name, context),
                          .numbers = planned_numbers(one, *plan)});
  }
  if (entry.plan.size() <= most_planned) return {};
  return "plan: plans change " + std::to_string(entry.plan.size()) + " policies, more than " +
         std::to_string(most_planned) + "; name a policy";
}

bool concerns(const Override& entry, const std::string& policy) {
  if (!entry.policy.empty()) return entry.policy == policy;
  if (entry.kind != Override::Kind::plan) return true;
  return std::ranges::find(entry.plan, policy, &store::PlanNumbers::policy) != entry.plan.end();
}

}  // namespace

Result<OverrideKey> find_override_key(const OverrideOwner& written, const config::Config& config) {
  if (written.key.empty())
    return Problem{"key is missing: give the value of the identity, or hash:HEX"};
  const identity::Definition* const found = find_identity(written.identity, config);
  if (found == nullptr && !written.identity.empty()) return no_identity(written.identity, config);
  if (written.key.starts_with(hash_scheme)) return hashed(written);
  if (found == nullptr) return missing_identity(config);
  if (!identity::has_one_value(found->source)) {
    return Problem{"key: the identity " + found->name +
                   " combines several values; write hash:HEX, as in the access log"};
  }
  const std::string_view values[] = {written.key};
  const auto keys = identity::written_keys(found->source, values, config::value_options(config),
                                           config.limiter.identity_key);
  if (keys.empty()) return no_request(*found, config);
  if (keys.size() > 1) return several_keys(*found, keys);
  return OverrideKey{.identity = found->name, .hash = keys.front().key};
}

Result<OverridePut> read_override(std::string_view body, const OverrideContext& context,
                                  Instant now) {
  const auto written = read_override_members(body);
  if (!written) return written.error();
  const auto key =
      find_override_key({.identity = written->identity, .key = written->key}, context.config);
  if (!key) return key.error();
  OverridePut put{
      .identity = key->identity,
      .key = key->hash,
      .entry = {.kind = written->is_denied ? Override::Kind::denied : Override::Kind::unlimited,
                .policy = written->policy,
                .until = written->until,
                .details = written->details}};
  const limiter::Policy* policy = nullptr;
  if (!written->policy.empty()) {
    const auto found = find_policy(written->policy, context.config);
    if (!found) return found.error();
    policy = *found;
    put.entry.policy_id = id_of(written->policy, context);
  }
  std::string problem;
  if (written->has_numbers())
    problem =
        read_numbers(*written, *policy,
                     context.config.shown()["policies"][policy->name].hides_numbers(), put.entry);
  if (!written->plan.empty()) problem = read_plan(written->plan, policy, context, put.entry);
  if (problem.empty() && written->until && *written->until <= now)
    problem = "until: the time has passed; give a later one, or none";
  if (!problem.empty()) return Problem{problem};
  return put;
}

std::string ineffective_because(const OverridePut& put, const config::Config& config) {
  bool is_policy_used = false;    // by a limit of a route
  bool is_identity_used = false;  // by another one, perhaps
  const auto is_named = [&](std::size_t identity) {
    return put.identity.empty() || config.limiter.identities[identity].name == put.identity;
  };
  for (const LimitUse& use : uses_of(config)) {
    const bool has_policy = concerns(put.entry, config.limiter.policies[use.policy].name);
    const bool has_identity = is_named(use.identity) || is_named(use.otherwise);
    if (has_policy && has_identity) return {};
    is_policy_used |= has_policy;
    is_identity_used |= has_identity;
  }
  const std::string& policy = put.entry.policy;
  std::string limit = "no limit of a route ";
  if (!put.identity.empty() && !is_identity_used) {
    limit += "has the key " + put.identity;
  } else if (policy.empty()) {
    limit +=
        put.entry.kind == Override::Kind::plan ? "has a policy that plans change" : "has a policy";
    if (!put.identity.empty()) limit += " with the key " + put.identity;
  } else {
    limit += "has the policy " + policy;
    if (is_policy_used) limit += " with the key " + put.identity;
  }
  return limit + ", so this override has no effect; add such a limit, or delete the override";
}

Result<OverrideQuery> read_override_query(std::string_view query, const OverrideContext& context,
                                          bool lists) {
  auto given = read_parameters(query, override_parameters);
  if (!given) return given.error();
  const bool names_key = given->contains("key") || given->contains("identity");
  OverrideQuery result;
  if (const auto policy = given->find("policy"); policy != given->end()) {
    result.policy = policy->second;
    const auto found = find_policy(result.policy, context.config);
    if (lists && !found) return found.error();
  }
  if (lists && !names_key) return result;
  const auto key =
      find_override_key({.identity = (*given)["identity"], .key = (*given)["key"]}, context.config);
  if (!key) return key.error();
  result.key = key->hash;
  return result;
}

Result<LimitQuery> read_limit_query(std::string_view query, const OverrideContext& context) {
  auto given = read_parameters(query, limit_parameters);
  if (!given) return given.error();
  std::string policy = (*given)["policy"];
  const auto used = used_names(context.config).policies;
  if (policy.empty() && used.size() == 1) policy = used.front();
  if (policy.empty()) {
    return Problem{
        used.empty() ? "no route has a limit, so nothing is counted"
                     : "policy is missing: name one of the policies that limits of routes have: " +
                           choice_of(used)};
  }
  const auto found = find_policy(policy, context.config);
  if (!found) return found.error();
  if (std::ranges::find(used, policy) == used.end())
    return Problem{"policy: no limit of a route has the policy " + policy +
                   ", so nothing is counted under it"};
  const auto key =
      find_override_key({.identity = (*given)["identity"], .key = (*given)["key"]}, context.config);
  if (!key) return key.error();
  LimitQuery result{.key = *key, .policy = *found, .policy_id = id_of(policy, context)};
  const limiter::Plans& plans = context.config.limiter.plans;
  std::optional<std::size_t> plan;
  if (const std::string& name = (*given)["plan"]; !name.empty()) {
    const auto named = find_plan(name, context.config);
    if (!named) return named.error();
    plan = *named;
  } else {
    plan = plan_of_key((*given)["identity"], key->hash, context.config);
  }
  if (plan) {
    result.plan = plans.names[*plan];
    result.planned = (*found)->under(*plan);
  }
  return result;
}

}  // namespace weir::app
