// `policies`: the named limits.
#include <chrono>
#include <optional>
#include <utility>

#include "config/sections.hpp"
#include "http/ratelimit_fields.hpp"

namespace weir::config {

namespace {

using rules::Algorithm;
using rules::Anchor;

constexpr std::size_t most_policies = 4096;
constexpr Duration longest_wait = std::chrono::hours(1);

/// A policy while it is read.
struct PolicyDraft {
  Config& config;
  limiter::Policy policy;
  DenialOptions denial{};
  std::optional<bool> lease{};

  rules::Definition& definition() { return policy.definition; }
};

constexpr std::pair<std::string_view, Algorithm> algorithm_choices[] = {
    {"fixed_window", Algorithm::fixed_window},
    {"attributed_window", Algorithm::attributed_window},
    {"sliding_window", Algorithm::sliding_window},
    {"sliding_log", Algorithm::sliding_log},
    {"token_bucket", Algorithm::token_bucket},
    {"gcra", Algorithm::gcra},
    {"leaky_bucket", Algorithm::leaky_bucket},
    {"concurrency", Algorithm::concurrency}};

void read_algorithm(const Cursor& in, PolicyDraft& to) {
  read_choice(in, to.definition().algorithm, algorithm_choices);
}

/// A flag shows or hides the policy; a map adds fields to its denials.
void read_headers(const Cursor& in, PolicyDraft& to) {
  if (in.is_map()) return read_denial_headers(in, to.denial);
  if (in.node().kind == Node::Kind::sequence)
    return in.error(
        "expected false, or a map of fields such as {access-control-allow-origin: \"*\"}, found a "
        "list");
  read_flag(in, to.policy.visible);
}

void read_mode(const Cursor& in, PolicyDraft& to) {
  read_choice(in, to.policy.shadow, {{"enforce", false}, {"shadow", true}});
}

/// Reads into the definition.
template <const auto& reader>
constexpr auto into_definition =
    [](const Cursor& in, PolicyDraft& to) { reader(in, to.definition()); };

constexpr Key<PolicyDraft> policy_keys[] = {
    {.name = "algorithm", .read = read_algorithm},
    {.name = "rate", .read = into_definition<read_rate>},
    {.name = "rates", .read = into_definition<read_rates>},
    {.name = "burst", .read = into_definition<read_burst>},
    {.name = "anchor",
     .read =
         [](const Cursor& in, PolicyDraft& to) {
           read_choice(in, to.definition().anchor.emplace(Anchor::first_request),
                       {{"first_request", Anchor::first_request}, {"clock", Anchor::clock}});
         }},
    {.name = "count_rejected",
     .read = [](const Cursor& in,
                PolicyDraft& to) { read_flag(in, to.definition().count_rejected); }},
    {.name = "limit", .read = into_definition<read_limit>},
    {.name = "queue", .read = into_definition<read_queue>},
    {.name = "max_delay", .read = into_definition<read_max_delay>},
    {.name = "max_wait",
     .read =
         [](const Cursor& in, PolicyDraft& to) {
           read_duration(in, to.policy.max_wait, {std::chrono::milliseconds(1), longest_wait});
         }},
    {.name = "attributes",
     .read = [](const Cursor& in,
                PolicyDraft& to) { read_attributes(in, to.config, to.policy.attributes); }},
    {.name = "cost",
     .read = read::integer<0, largest_exact, &PolicyDraft::policy, &limiter::Policy::cost>},
    {.name = "mode", .read = read_mode},
    {.name = "on_failure",
     .read = read::with<read_on_failure, &PolicyDraft::policy, &limiter::Policy::on_failure>},
    {.name = "lease",
     .read = [](const Cursor& in, PolicyDraft& to) { read_flag(in, to.lease.emplace(false)); }},
    {.name = "status", .read = read::with<read_denial_status, &PolicyDraft::denial>},
    {.name = "content_type", .read = read::with<read_denial_content_type, &PolicyDraft::denial>},
    {.name = "body", .read = read::with<read_denial_body, &PolicyDraft::denial>},
    {.name = "headers", .read = read_headers},
    {.name = "charge_preflight",
     .read = read::flag<&PolicyDraft::policy, &limiter::Policy::charges_preflight>},
};

/// Completes the denials of the policy with the section `denied`.
void finish_denial(const Cursor& in, PolicyDraft& draft) {
  check_denial(in, draft.denial);
  draft.policy.denial = compile_denial(draft.denial, draft.config.denied);
  draft.policy.status = draft.denial.status.value_or(draft.config.denied.status.value_or(429));
  if (!draft.denial.status) in.inherit("status", "denied.status");
  if (draft.denial.bodies.empty()) in.inherit("content_type", "denied.content_type");
}

/// Reports a policy without the number that its algorithm needs, or with one of another algorithm.
bool has_numbers(const Cursor& in, Algorithm algorithm) {
  const bool has_rate = in.has("rate") || in.has("rates");
  if (algorithm == Algorithm::concurrency) {
    if (!in.has("limit")) in.error("the limit is missing; write one as limit: 20");
    if (has_rate)
      in.at_key(in.has("rate") ? "rate" : "rates")
          .error(
              "concurrency has no rate: it limits the requests in progress; remove it, or use "
              "another algorithm");
    return in.has("limit") && !has_rate;
  }
  if (in.has("limit"))
    in.at_key("limit").error(
        "limit is for algorithm: concurrency; write count and time as one value, as in rate: "
        "100/1m");
  // {gcra: {rate: 10/s}} has been reported with the right form.
  const bool is_nested = std::ranges::any_of(
      algorithm_choices, [&](const auto& choice) { return in.has(choice.first); });
  if (!has_rate && !in.has("limit") && !is_nested)
    in.error("the rate is missing; write one as rate: 100/1m");
  return has_rate && !in.has("limit");
}

/// Why no units of such a policy can be held in advance; empty: they can.
std::string_view lease_fault(const rules::Definition& definition) {
  switch (definition.algorithm) {
    case Algorithm::concurrency:
      return "a slot is held for one request";
    case Algorithm::leaky_bucket:
      return "each request has its own turn";
    case Algorithm::attributed_window:
      return "each entry has the attributes of one request";
    default:
      return definition.count_rejected ? "with count_rejected each denial is counted" : "";
  }
}

bool has_leases(const rules::Policy& numbers, int share) {
  return numbers.capacity * share / 100 >= limiter::least_leased_units;
}

/// A policy has leases unless it says otherwise, if `store.redis.leases` has a share.
void finish_lease(const Cursor& in, PolicyDraft& draft) {
  const config::RedisStore& redis = draft.config.redis;
  const std::string fault(lease_fault(draft.definition()));
  const bool is_shared = draft.config.store_type == StoreType::redis && redis.lease_share > 0;
  draft.policy.lease = draft.lease.value_or(true) && is_shared && fault.empty();
  if (!draft.lease.value_or(false)) return;
  const Cursor key = in.at_key("lease");
  if (!fault.empty()) {
    key.error("a lease is not possible: " + fault + "; remove it");
  } else if (redis.lease_share == 0) {
    key.error("has no effect without a share; write store: {redis: {leases: {share: 10}}}");
  } else if (!has_leases(draft.policy.numbers, redis.lease_share) &&
             !draft.policy.numbers.rates.empty()) {
    key.warn("has no effect: the share of an instance, " + std::to_string(redis.lease_share) +
             " % of the quota, is less than " + std::to_string(limiter::least_leased_units) +
             " units; raise store.redis.leases.share, or remove it");
  }
}

/// For concurrency `queue` counts requests that wait here, and is no part of the numbers.
void take_queue(const Cursor& in, PolicyDraft& draft) {
  if (draft.definition().algorithm == Algorithm::concurrency) {
    draft.policy.queue = std::exchange(draft.definition().queue, std::nullopt).value_or(0);
    if (in.has("max_wait") && !in.has("queue"))
      in.at_key("max_wait")
          .error("max_wait has no effect without queue; write queue: 50, or remove it");
  } else if (in.has("max_wait")) {
    in.at_key("max_wait")
        .error(
            "max_wait is for algorithm: concurrency; remove it, or use leaky_bucket with "
            "max_delay");
  }
}

void check_policy(const Cursor& in, PolicyDraft& draft) {
  if (has_both_rates(in)) return;
  take_queue(in, draft);
  if (!has_numbers(in, draft.definition().algorithm)) return;
  if (in.has("attributes") && draft.definition().algorithm != Algorithm::attributed_window) {
    in.at_key("attributes")
        .error("attributes have no meaning for " +
               std::string(rules::to_string(draft.definition().algorithm)) +
               ": remove them, or use attributed_window");
  }
  compile_terms(in,
                {.config = draft.config,
                 .policy = draft.policy,
                 .hides_numbers = in.shown_here().hides_numbers()},
                draft.definition(), draft.policy);
}

/// `!` is the name of the key of overrides, and `*` of an override for all policies.
void check_policy_name(const Cursor& in, const std::string& name) {
  if (name == "!" || name == "*")
    in.error("a policy cannot have the name " + name + ", which overrides use; choose another");
}

}  // namespace

void end_small_leases(Config& config) {
  const int share = config.redis.lease_share;
  for (limiter::Policy& policy : config.limiter.policies) {
    policy.lease =
        policy.lease &&
        (has_leases(policy.numbers, share) ||
         std::ranges::any_of(policy.planned, [share](const limiter::PlannedTerms& planned) {
           return has_leases(planned.terms.numbers, share);
         }));
  }
}

void read_policies(const Cursor& in, Config& to) {
  for_each_named(in, "a map of policies by name", most_policies,
                 [&](const std::string& name, const Cursor& entry) {
                   PolicyDraft draft{.config = to, .policy = {}};
                   draft.policy.name = name;
                   draft.policy.on_failure = to.redis.on_failure;
                   if (read_table(entry, policy_keys, draft)) {
                     finish_denial(entry, draft);
                     check_policy(entry, draft);
                     finish_lease(entry, draft);
                   }
                   check_policy_name(entry, name);
                   draft.policy.visible = draft.policy.visible && !draft.policy.shadow;
                   draft.policy.name_item = http::name_item(name);
                   to.limiter.policies.push_back(std::move(draft.policy));
                 });
}
}  // namespace weir::config
