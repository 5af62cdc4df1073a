// `policies`: the named limits. rules::compile() checks the values; this file adds their position
// to its faults.
#include <algorithm>

#include "config/attributes.hpp"
#include "config/sections.hpp"
#include "config/values.hpp"
#include "http/ratelimit_fields.hpp"
#include "rules/share.hpp"

namespace weir::config {

namespace {

using rules::Algorithm;
using rules::Anchor;

constexpr std::size_t most_policies = 4096;
constexpr std::size_t most_rates = 64;
constexpr DurationRange any_duration{Duration{0}, Duration::max()};

/// A policy while it is read.
struct Draft {
  Config& config;
  limiter::Policy policy;
  rules::Definition definition;
};

void read_algorithm(const Cursor& in, Draft& to) {
  read_choice(in, to.definition.algorithm,
              {{"fixed_window", Algorithm::fixed_window},
               {"attributed_window", Algorithm::attributed_window},
               {"sliding_window", Algorithm::sliding_window},
               {"sliding_log", Algorithm::sliding_log},
               {"token_bucket", Algorithm::token_bucket},
               {"gcra", Algorithm::gcra},
               {"leaky_bucket", Algorithm::leaky_bucket}});
}

void read_rate(const Cursor& in, Draft& to) {
  const auto text = in.text();
  if (!text) return;
  const Result<rules::Rate> rate = parse_rate(*text);
  if (!rate) return in.error_showing(rate.error().message);
  to.definition.rates.push_back(*rate);
}

void read_rates(const Cursor& in, Draft& to) {
  for_each_item(in, "a list of rates, such as [10/1s, 100/1m]", most_rates,
                [&](const Cursor& item) { read_rate(item, to); });
}

void read_mode(const Cursor& in, Draft& to) {
  read_choice(in, to.policy.shadow, {{"enforce", false}, {"shadow", true}});
}

constexpr Key<Draft> policy_keys[] = {
    {.name = "algorithm", .read = read_algorithm},
    {.name = "rate", .read = read_rate},
    {.name = "rates", .read = read_rates},
    {.name = "burst",
     .read =
         [](const Cursor& in, Draft& to) {
           to.definition.burst = read_integer(in, {1, largest_exact});
         }},
    {.name = "anchor",
     .read =
         [](const Cursor& in, Draft& to) {
           read_choice(in, to.definition.anchor.emplace(Anchor::first_request),
                       {{"first_request", Anchor::first_request}, {"clock", Anchor::clock}});
         }},
    {.name = "count_rejected",
     .read = [](const Cursor& in, Draft& to) { read_flag(in, to.definition.count_rejected); }},
    {.name = "queue",
     .read =
         [](const Cursor& in, Draft& to) {
           to.definition.queue = read_integer(in, {0, largest_exact});
         }},
    {.name = "max_delay",
     .read =
         [](const Cursor& in, Draft& to) {
           read_duration(in, to.definition.max_delay.emplace(0), any_duration);
         }},
    {.name = "attributes",
     .read = [](const Cursor& in,
                Draft& to) { read_attributes(in, to.config, to.policy.attributes); }},
    {.name = "cost",
     .read =
         [](const Cursor& in, Draft& to) {
           read_integer_into(in, to.policy.cost, {0, largest_exact});
         }},
    {.name = "mode", .read = read_mode},
    {.name = "on_failure",
     .read = [](const Cursor& in, Draft& to) { read_on_failure(in, to.policy.on_failure); }},
    {.name = "status",
     .read =
         [](const Cursor& in, Draft& to) {
           read_integer_into(in, to.policy.status, {400, 599});
         }},
    {.name = "body",
     .read = [](const Cursor& in, Draft& to) { read_text(in, to.policy.body.emplace()); }},
    {.name = "headers",
     .read = [](const Cursor& in, Draft& to) { read_flag(in, to.policy.visible); }},
};

/// Removes the setting, so that the next fault is found. Returns false if it is absent, or must not
/// be missing.
bool drop(rules::Setting setting, rules::Definition& definition) {
  using rules::Setting;
  switch (setting) {
    case Setting::rate:
      return false;
    case Setting::burst:
      return std::exchange(definition.burst, std::nullopt).has_value();
    case Setting::anchor:
      return std::exchange(definition.anchor, std::nullopt).has_value();
    case Setting::count_rejected:
      return std::exchange(definition.count_rejected, false);
    case Setting::queue:
      return std::exchange(definition.queue, std::nullopt).has_value();
    case Setting::max_delay:
      break;
  }
  return std::exchange(definition.max_delay, std::nullopt).has_value();
}

/// A message of the rules about this policy, whose numbers may have to be hidden.
std::string about_numbers(const Cursor& in, const std::string& message) {
  return in.written().hides_numbers_of(in.path()) ? without_numbers(message) : message;
}

void compile_rule(const Cursor& in, Draft& draft) {
  rules::Definition definition = draft.definition;
  for (;;) {
    const auto rule = rules::compile(definition);
    if (rule) {
      draft.policy.rule = *rule;
      return;
    }
    const auto& [setting, message] = rule.error();
    const bool is_dropped = drop(setting, definition);
    const std::string_view rate = in.has("rates") ? "rates" : "rate";
    in.at_key(is_dropped ? to_string(setting) : rate).error(about_numbers(in, message));
    if (!is_dropped) return;
  }
}

/// Computes this instance's share of the policy, for the time while Redis does not decide.
void divide_rule(const Cursor& in, Draft& draft) {
  limiter::Policy& policy = draft.policy;
  policy.local_rule = policy.rule;
  const bool is_divided = draft.config.store_type == StoreType::redis &&
                          policy.on_failure == limiter::OnFailure::local &&
                          !policy.rule.rates.empty();
  if (!is_divided) return;
  const auto share = rules::share_of(policy.rule, draft.config.redis.replicas);
  if (share) {
    policy.local_rule = *share;
    return;
  }
  const bool hides_replicas = in.written().has("store.redis.replicas");
  in.at_key("on_failure")
      .error(about_numbers(in, hides_replicas ? without_numbers(share.error().message)
                                              : share.error().message) +
             " while Redis is down; use fewer store.redis.replicas, or on_failure: allow or deny "
             "for this policy");
}

void check_policy(const Cursor& in, Draft& draft) {
  if (in.has("rate") && in.has("rates"))
    return in.at_key("rates").error("rate and rates exclude each other; keep one");
  if (!in.has("rate") && !in.has("rates"))
    return in.error("the rate is missing; write one as rate: 100/1m");
  if (in.has("attributes") && draft.definition.algorithm != Algorithm::attributed_window) {
    in.at_key("attributes")
        .error("attributes have no meaning for " +
               std::string(to_string(draft.definition.algorithm)) +
               ": remove them, or use attributed_window");
  }
  // No rate could be read, which has been reported.
  if (draft.definition.rates.empty()) return;
  compile_rule(in, draft);
  divide_rule(in, draft);
}

}  // namespace

void read_policies(const Cursor& in, Config& to) {
  for_each_named(in, "a map of policies by name", most_policies,
                 [&](const std::string& name, const Cursor& entry) {
                   Draft draft{.config = to, .policy = {}, .definition = {}};
                   draft.policy.name = name;
                   draft.policy.on_failure = to.redis.on_failure;
                   read_table(entry, policy_keys, draft);
                   if (entry.node().kind == Node::Kind::map) check_policy(entry, draft);
                   draft.policy.visible = draft.policy.visible && !draft.policy.shadow;
                   const rules::Policy& rule = draft.policy.rule;
                   draft.policy.policy_item = http::policy_item(name, rule.capacity, rule.refill);
                   draft.policy.name_item = http::name_item(name);
                   to.policies.push_back(std::move(draft.policy));
                 });
}
void list_policies(const std::string& path, KeyPaths& out) {
  list_named<policy_keys>(path, out);
}

}  // namespace weir::config
