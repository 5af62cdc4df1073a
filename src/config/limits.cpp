#include <algorithm>

#include "config/key_path.hpp"
#include "config/sections.hpp"
#include "limiter/local_shares.hpp"

namespace weir::config {

namespace {

/// A limit while it is read. A reference that was not found is not checked further.
struct LimitDraft {
  const Config& config;
  limiter::Limit limit;
  const limiter::Policy* policy = nullptr;
  bool has_cost = false;
  bool key_is_known = true;
};

void read_cost(const Cursor& in, LimitDraft& to) {
  read_integer_into(in, to.limit.cost, {0, largest_exact});
  to.has_cost = true;
}

/// A condition while it is read.
struct ConditionDraft {
  const Config& config;
  limiter::Condition condition{};
};

void read_condition_plans(const Cursor& in, ConditionDraft& to) {
  for_each_item(in, "a list of plans, such as [gold]", limiter::plan_limit,
                [&](const Cursor& item) {
                  if (const auto plan = read_plan_name(item, to.config))
                    to.condition.plans.push_back(*plan);
                });
}

constexpr Key<ConditionDraft> condition_keys[] = {
    {.name = "address",
     .read = [](const Cursor& in,
                ConditionDraft& to) { read_address(in, to.config, to.condition.address); }},
    {.name = "identity",
     .read =
         [](const Cursor& in, ConditionDraft& to) {
           to.condition.identity = read_reference(in, "identity", to.config.limiter.identities);
         }},
    {.name = "methods",
     .read = read::with<read_methods, &ConditionDraft::condition, &limiter::Condition::methods>},
    {.name = "plan", .read = read_condition_plans},
};

void read_condition(const Cursor& in, const Config& config, std::optional<limiter::Condition>& to) {
  if (in.is_map() && in.node().entries.empty())
    return in.error("names no condition; add address, identity, methods or plan");
  ConditionDraft draft{.config = config};
  read_table(in, condition_keys, draft);
  to = std::move(draft.condition);
}

constexpr Key<LimitDraft> limit_keys[] = {
    {.name = "policy",
     .read =
         [](const Cursor& in, LimitDraft& to) {
           if (const auto index = read_reference(in, "policy", to.config.limiter.policies)) {
             to.limit.policy = *index;
             to.policy = &to.config.limiter.policies[*index];
           }
         },
     .required = true},
    {.name = "key",
     .read =
         [](const Cursor& in, LimitDraft& to) {
           const auto index = read_reference(in, "identity", to.config.limiter.identities);
           to.key_is_known = index.has_value();
           to.limit.identity = index.value_or(0);
         }},
    {.name = "otherwise",
     .read =
         [](const Cursor& in, LimitDraft& to) {
           to.limit.otherwise = read_reference(in, "identity", to.config.limiter.identities);
         }},
    {.name = "required", .read = read::flag<&LimitDraft::limit, &limiter::Limit::required>},
    {.name = "cost", .read = read_cost},
    {.name = "overdraft", .read = read::flag<&LimitDraft::limit, &limiter::Limit::overdraft>},
    {.name = "charge",
     .read = read::with<read_charge, &LimitDraft::limit, &limiter::Limit::charge>},
    {.name = "reserve",
     .read = read::with<read_reserve, &LimitDraft::limit, &limiter::Limit::charge>},
    {.name = "cost_from",
     .read = read::with<read_cost_from, &LimitDraft::limit, &limiter::Limit::charge>},
    {.name = "missing",
     .read = read::with<read_missing, &LimitDraft::limit, &limiter::Limit::charge>},
    {.name = "when",
     .read = [](const Cursor& in,
                LimitDraft& to) { read_condition(in, to.config, to.limit.when); }},
    {.name = "unless",
     .read = [](const Cursor& in,
                LimitDraft& to) { read_condition(in, to.config, to.limit.unless); }},
};

/// The number as text for the warnings below; hidden if it is, or is computed from, a number that
/// is not shown.
std::string number_text(const Cursor& in, const LimitDraft& draft, std::int64_t number) {
  const Shown limit = in.shown_here();
  const Shown root = in.shown_root();
  return unless_hidden(limit["cost"].is_hidden() || limit["reserve"].is_hidden() ||
                           root["store"]["redis"]["replicas"].is_hidden() ||
                           root["policies"][draft.policy->name].hides_numbers(),
                       std::to_string(number));
}

/// Checks a charge of a route with `decide`: another proxy sends fields, and no body.
void check_reported(const Cursor& in, const limiter::Charge& charge) {
  const auto is_field = [](const auto& entry) { return !entry.field.empty(); };
  if (charge.cost_from && std::ranges::none_of(charge.cost_from->entries(), is_field))
    in.at_key("cost_from")
        .error(
            "the report of another proxy has no body; name a header that states the cost, such as "
            "[{header: x-usage-tokens}]");
  if (reads_request_body(charge))
    in.at_key("reserve").warn(
        "another proxy sends its subrequest without the body, so default is held; name a header "
        "instead");
}

/// Checks the keys about what is held and charged with each other and with the action.
void check_charge(const Cursor& in, const LimitDraft& draft, const options::Route& route) {
  if (in.has("reserve") && draft.has_cost)
    in.at_key("cost").error("cost and reserve exclude each other; keep the units to hold");
  if (in.has("missing") && !in.has("cost_from"))
    in.at_key("missing").error("missing has no effect without cost_from; remove it");
  if (in.has("cost_from") && !route.upstream && !route.decide)
    in.at_key("cost_from")
        .error("cost_from needs the response of an upstream; this route has a fixed response");
  if (route.decide && draft.limit.charge) check_reported(in, *draft.limit.charge);
  if (draft.policy == nullptr || !limiter::is_concurrency(*draft.policy)) return;
  if (route.decide && draft.policy->queue > 0)
    in.at_key("policy").warn(
        "a subrequest of another proxy waits for up to max_wait; the proxy must wait longer, or it "
        "serves the request without an answer");
  for (const std::string_view key : {"charge", "reserve", "cost_from"}) {
    if (in.has(key))
      in.at_key(key).error(std::string(key) +
                           " has no meaning for concurrency, which limits requests in progress: "
                           "remove it, or use token_bucket");
  }
}

void check_limit(const Cursor& in, const LimitDraft& draft) {
  const limiter::Limit& limit = draft.limit;
  if (limit.required && limit.otherwise) {
    in.at_key("required")
        .error("required and otherwise exclude each other: with a substitute nothing is required");
  }
  if (draft.key_is_known && limit.otherwise == limit.identity)
    in.at_key("otherwise").error("the same identity as key; remove it");
  if (draft.policy == nullptr || draft.policy->numbers.rates.empty()) return;
  const rules::Policy& numbers = draft.policy->numbers;
  if (limit.overdraft && numbers.algorithm == rules::Algorithm::leaky_bucket) {
    in.at_key("overdraft")
        .error("overdraft has no meaning for leaky_bucket: remove it, or use token_bucket");
  }
  if (limit.overdraft && numbers.algorithm == rules::Algorithm::concurrency)
    in.at_key("overdraft")
        .error("overdraft has no meaning for concurrency: remove it, or use token_bucket");
  if (limit.overdraft && limit.charge)
    in.at_key("overdraft")
        .error(
            "overdraft and charge, reserve or cost_from exclude each other: the cost is held whole "
            "until the response; remove one");
  if (limit.overdraft) return;
  const auto number = [&](std::int64_t value) { return number_text(in, draft, value); };
  const std::string name = in_quotes(draft.policy->name);
  const auto share = limiter::local_share(*draft.policy, numbers, draft.config.fixed_replicas());
  const std::string key = in.has("reserve") ? "reserve" : "cost";
  if (limit.cost > numbers.capacity) {
    in.at_key(key).warn("a " + key + " of " + number(limit.cost) +
                        " could never pass: the policy " + name + " holds at most " +
                        number(numbers.capacity));
  } else if (share && limit.cost > share->capacity) {
    in.at_key(key).warn("a " + key + " of " + number(limit.cost) +
                        " cannot pass while Redis is down: this instance's share of the policy " +
                        name + " is " + number(share->capacity));
  }
}

/// Warns if the cost could never pass under a plan, although it can without one.
void check_plans(const Cursor& in, const LimitDraft& draft) {
  const limiter::Limit& limit = draft.limit;
  if (limit.overdraft || limit.cost > draft.policy->numbers.capacity) return;
  for (const limiter::PlannedTerms& planned : draft.policy->planned) {
    const std::int64_t most = planned.terms.numbers.capacity;
    if (planned.unlimited || limit.cost <= most || most == 0) continue;
    const std::string& plan = draft.config.limiter.plans.names[planned.plan];
    const bool is_hidden = in.shown_root()["plans"][plan][draft.policy->name].hides_numbers();
    in.at_key("cost").warn("a cost of " + number_text(in, draft, limit.cost) +
                           " could never pass under the plan " + in_quotes(plan) +
                           ": it has at most " +
                           unless_hidden(is_hidden, number_text(in, draft, most)) +
                           " of the policy " + in_quotes(draft.policy->name));
  }
}

std::string segment_of(const identity::Source& source) {
  const auto* path = std::get_if<identity::FromPath>(&source.from);
  return path == nullptr ? std::string() : path->parameter;
}

/// The route's pattern must capture every segment that the identity reads.
void check_captured(const Cursor& in, const identity::Definition& identity,
                    const options::Route& route) {
  static const std::vector<std::string> none;
  const std::vector<std::string>& captured =
      route.match.path ? route.match.path->parameters() : none;
  std::vector<std::string> shown;
  identity::each_part(in.shown_root()["identities"][identity.name](identity.source),
                      [&](const identity::Source& part) { shown.push_back(segment_of(part)); });
  auto segment = shown.begin();
  identity::each_part(identity.source, [&](const identity::Source& part) {
    const std::string& name = *segment++;
    const std::string wanted = segment_of(part);
    if (wanted.empty() || std::find(captured.begin(), captured.end(), wanted) != captured.end())
      return;
    in.error("needs the path segment {" + name +
             "}, which the route's path does not capture; write {" + name +
             "} there, as in path: /users/{" + name + "}");
  });
}

void check_identities(const Cursor& in, const LimitDraft& draft, const options::Route& route) {
  const auto& identities = draft.config.limiter.identities;
  check_captured(in.at_key("key"), identities[draft.limit.identity], route);
  if (draft.limit.otherwise)
    check_captured(in.at_key("otherwise"), identities[*draft.limit.otherwise], route);
  if (draft.limit.when && draft.limit.when->identity)
    check_captured(in.at_key("when").at_key("identity"), identities[*draft.limit.when->identity],
                   route);
  if (draft.limit.unless && draft.limit.unless->identity)
    check_captured(in.at_key("unless").at_key("identity"),
                   identities[*draft.limit.unless->identity], route);
  if (draft.policy == nullptr) return;
  for (const limiter::Attribute& attribute : draft.policy->attributes) {
    check_captured(in.at_key("policy"), {.name = attribute.name, .source = attribute.source},
                   route);
  }
}

}  // namespace

void read_limits(const Cursor& in, const Config& config, options::Route& route) {
  if (in.is_empty_list()) return;
  for_each_item(
      in, "a list of limits, such as `- policy: NAME`", limiter::limits_per_route,
      [&](const Cursor& item) {
        LimitDraft draft{.config = config, .limit = {}, .policy = nullptr};
        read_table(item, limit_keys, draft);
        if (draft.policy != nullptr && !draft.has_cost) draft.limit.cost = draft.policy->cost;
        if (draft.policy != nullptr && !draft.has_cost)
          item.inherit("cost", key_path(key_path("policies", draft.policy->name), "cost"));
        if (draft.limit.charge && draft.limit.charge->reserve)
          draft.limit.cost = draft.limit.charge->reserve->units;
        check_charge(item, draft, route);
        check_limit(item, draft);
        if (draft.policy != nullptr) check_plans(item, draft);
        check_identities(item, draft, route);
        const auto same = [&](const limiter::Limit& other) {
          return other.policy == draft.limit.policy && other.identity == draft.limit.identity;
        };
        if (draft.policy == nullptr || !draft.key_is_known) return;
        if (std::any_of(route.limits.begin(), route.limits.end(), same)) {
          item.at_key("policy").error(
              "the same policy and key are already in this route; one request would be counted "
              "twice");
        }
        if (draft.limit.charge && reads_request_body(*draft.limit.charge))
          route.needs |= options::needs_body;
        route.limits.push_back(draft.limit);
      });
}

}  // namespace weir::config
