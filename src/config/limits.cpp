#include "config/limits.hpp"

#include <algorithm>

#include "config/names.hpp"

namespace weir::config {

namespace {

/// A limit while it is read; nothing is checked further against a reference that leads nowhere.
struct Draft {
  const Config& config;
  Limit limit;
  const Policy* policy = nullptr;
  bool has_cost = false;
  bool key_is_known = true;
};

void read_cost(const Cursor& in, Draft& to) {
  read_integer_into(in, to.limit.cost, {0, largest_exact});
  to.has_cost = true;
}

constexpr Key<Draft> limit_keys[] = {
    {.name = "policy",
     .read =
         [](const Cursor& in, Draft& to) {
           if (const auto index = read_reference(in, "policy", to.config.policies)) {
             to.limit.policy = *index;
             to.policy = &to.config.policies[*index];
           }
         },
     .required = true},
    {.name = "key",
     .read =
         [](const Cursor& in, Draft& to) {
           const auto index = read_reference(in, "identity", to.config.identities);
           to.key_is_known = index.has_value();
           to.limit.identity = index.value_or(0);
         }},
    {.name = "otherwise",
     .read =
         [](const Cursor& in, Draft& to) {
           to.limit.otherwise = read_reference(in, "identity", to.config.identities);
         }},
    {.name = "required",
     .read = [](const Cursor& in, Draft& to) { read_flag(in, to.limit.required); }},
    {.name = "cost", .read = read_cost},
    {.name = "overdraft",
     .read = [](const Cursor& in, Draft& to) { read_flag(in, to.limit.overdraft); }},
};

void check_limit(const Cursor& in, const Draft& draft) {
  const Limit& limit = draft.limit;
  if (limit.required && limit.otherwise) {
    in.at_key("required")
        .error("required and otherwise exclude each other: with a substitute nothing is required");
  }
  if (draft.key_is_known && limit.otherwise == limit.identity)
    in.at_key("otherwise").error("the same identity as key; remove it");
  if (draft.policy == nullptr || draft.policy->rule.rates.empty()) return;
  const rules::Policy& rule = draft.policy->rule;
  if (limit.overdraft && rule.algorithm == rules::Algorithm::leaky_bucket) {
    in.at_key("overdraft")
        .error("overdraft has no meaning for leaky_bucket: remove it, or use token_bucket");
  }
  if (!limit.overdraft && limit.cost > rule.capacity) {
    in.at_key("cost").warn("a cost of " + std::to_string(limit.cost) +
                           " could never pass: the policy " + in_quotes(draft.policy->name) +
                           " holds at most " + std::to_string(rule.capacity));
    return;
  }
  const std::int64_t share = draft.policy->local_rule.capacity;
  if (!limit.overdraft && limit.cost > share) {
    in.at_key("cost").warn(
        "a cost of " + std::to_string(limit.cost) +
        " can not pass while Redis is down: this instance's share of the policy " +
        in_quotes(draft.policy->name) + " is " + std::to_string(share));
  }
}

/// The route's pattern must capture every segment that the source reads.
void check_captured(const Cursor& in, const identity::Source& source, const Route& route) {
  static const std::vector<std::string> none;
  const std::vector<std::string>& captured =
      route.match.path ? route.match.path->parameters() : none;
  identity::each_part(source, [&](const identity::Source& part) {
    const auto* path = std::get_if<identity::FromPath>(&part.from);
    if (path == nullptr || path->parameter.empty()) return;
    if (std::find(captured.begin(), captured.end(), path->parameter) != captured.end()) return;
    in.error("needs the path segment {" + path->parameter +
             "}, which the route's path does not capture");
  });
}

void check_identities(const Cursor& in, const Draft& draft, const Route& route) {
  const auto& identities = draft.config.identities;
  check_captured(in.at_key("key"), identities[draft.limit.identity].source, route);
  if (draft.limit.otherwise)
    check_captured(in.at_key("otherwise"), identities[*draft.limit.otherwise].source, route);
  if (draft.policy == nullptr) return;
  for (const Attribute& attribute : draft.policy->attributes) {
    check_captured(in.at_key("policy"), attribute.source, route);
  }
}

}  // namespace

void read_limits(const Cursor& in, const Config& config, Route& route) {
  if (in.node().kind == Node::Kind::sequence && in.node().items.empty()) return;
  for_each_item(
      in, "a list of limits, as `- policy: NAME`", limits_per_route, [&](const Cursor& item) {
        Draft draft{.config = config, .limit = {}, .policy = nullptr};
        read_table(item, limit_keys, draft);
        if (draft.policy != nullptr && !draft.has_cost) draft.limit.cost = draft.policy->cost;
        check_limit(item, draft);
        check_identities(item, draft, route);
        const auto same = [&](const Limit& other) {
          return other.policy == draft.limit.policy && other.identity == draft.limit.identity;
        };
        if (draft.policy == nullptr || !draft.key_is_known) return;
        if (std::any_of(route.limits.begin(), route.limits.end(), same)) {
          item.at_key("policy").error(
              "the same policy and key are already in this route; one request would be counted "
              "twice");
        }
        route.limits.push_back(draft.limit);
      });
}

void list_limits(const std::string& path, KeyPaths& out) {
  list_items<limit_keys>(path, out);
}

}  // namespace weir::config
