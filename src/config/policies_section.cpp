// `policies`: the named limits.
#include "config/attributes.hpp"
#include "config/policy_terms.hpp"
#include "config/sections.hpp"
#include "http/ratelimit_fields.hpp"

namespace weir::config {

namespace {

using rules::Algorithm;
using rules::Anchor;

constexpr std::size_t most_policies = 4096;

/// A policy while it is read.
struct Draft {
  Config& config;
  limiter::Policy policy;

  rules::Definition& definition() { return policy.definition; }
};

void read_algorithm(const Cursor& in, Draft& to) {
  read_choice(in, to.definition().algorithm,
              {{"fixed_window", Algorithm::fixed_window},
               {"attributed_window", Algorithm::attributed_window},
               {"sliding_window", Algorithm::sliding_window},
               {"sliding_log", Algorithm::sliding_log},
               {"token_bucket", Algorithm::token_bucket},
               {"gcra", Algorithm::gcra},
               {"leaky_bucket", Algorithm::leaky_bucket}});
}

void read_mode(const Cursor& in, Draft& to) {
  read_choice(in, to.policy.shadow, {{"enforce", false}, {"shadow", true}});
}

constexpr Key<Draft> policy_keys[] = {
    {.name = "algorithm", .read = read_algorithm},
    {.name = "rate", .read = [](const Cursor& in, Draft& to) { read_rate(in, to.definition()); }},
    {.name = "rates", .read = [](const Cursor& in, Draft& to) { read_rates(in, to.definition()); }},
    {.name = "burst", .read = [](const Cursor& in, Draft& to) { read_burst(in, to.definition()); }},
    {.name = "anchor",
     .read =
         [](const Cursor& in, Draft& to) {
           read_choice(in, to.definition().anchor.emplace(Anchor::first_request),
                       {{"first_request", Anchor::first_request}, {"clock", Anchor::clock}});
         }},
    {.name = "count_rejected",
     .read = [](const Cursor& in, Draft& to) { read_flag(in, to.definition().count_rejected); }},
    {.name = "queue", .read = [](const Cursor& in, Draft& to) { read_queue(in, to.definition()); }},
    {.name = "max_delay",
     .read = [](const Cursor& in, Draft& to) { read_max_delay(in, to.definition()); }},
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

void check_policy(const Cursor& in, Draft& draft) {
  if (has_both_rates(in)) return;
  if (!in.has("rate") && !in.has("rates"))
    return in.error("the rate is missing; write one as rate: 100/1m");
  if (in.has("attributes") && draft.definition().algorithm != Algorithm::attributed_window) {
    in.at_key("attributes")
        .error("attributes have no meaning for " +
               std::string(to_string(draft.definition().algorithm)) +
               ": remove them, or use attributed_window");
  }
  compile_terms(in,
                {.config = draft.config,
                 .policy = draft.policy,
                 .hides_numbers = in.written().hides_numbers_of(in.path())},
                draft.definition(), draft.policy);
}

/// `!` is the name of the key of overrides, and `*` of an override for all policies.
void check_name(const Cursor& in, const std::string& name) {
  if (name == "!" || name == "*")
    in.error("a policy cannot have the name " + name + ", which overrides use; choose another");
}

}  // namespace

void read_policies(const Cursor& in, Config& to) {
  for_each_named(in, "a map of policies by name", most_policies,
                 [&](const std::string& name, const Cursor& entry) {
                   Draft draft{.config = to, .policy = {}};
                   draft.policy.name = name;
                   draft.policy.on_failure = to.redis.on_failure;
                   read_table(entry, policy_keys, draft);
                   if (entry.node().kind == Node::Kind::map) check_policy(entry, draft);
                   check_name(entry, name);
                   draft.policy.visible = draft.policy.visible && !draft.policy.shadow;
                   draft.policy.name_item = http::name_item(name);
                   to.policies.push_back(std::move(draft.policy));
                 });
}
void list_policies(const std::string& path, KeyPaths& out) {
  list_named<policy_keys>(path, out);
}

}  // namespace weir::config
