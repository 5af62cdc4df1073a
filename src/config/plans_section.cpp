// `plans`, `plan_from` and `default_plan`: numbers that replace those of policies, and where the
// plan of a request comes from.
#include <utility>

#include "config/data_files.hpp"
#include "config/key_path.hpp"
#include "config/sections.hpp"
#include "http/characters.hpp"

namespace weir::config {

namespace {

constexpr std::size_t most_plan_sources = 8;
constexpr std::string_view unlimited_word = "unlimited";

constexpr Key<rules::Definition> plan_number_keys[] = {
    {.name = "rate", .read = read_rate},           {.name = "rates", .read = read_rates},
    {.name = "burst", .read = read_burst},         {.name = "queue", .read = read_queue},
    {.name = "max_delay", .read = read_max_delay}, {.name = "limit", .read = read_limit},
};

/// Returns the definition of the policy with the numbers of `in` in place of its own.
rules::Definition replaced(const rules::Definition& own, const rules::Definition& numbers,
                           const Cursor& in) {
  rules::Definition definition = own;
  if (in.has("rate") || in.has("rates")) definition.rates = numbers.rates;
  if (in.has("burst")) definition.burst = numbers.burst;
  if (in.has("limit")) definition.limit = numbers.limit;
  if (in.has("queue")) definition.queue = numbers.queue;
  if (in.has("max_delay")) definition.max_delay = numbers.max_delay;
  return definition;
}

void read_numbers(const Cursor& in, const Config& config, const limiter::Policy& policy,
                  limiter::Terms& to) {
  if (in.node().entries.empty()) {
    return in.error(
        "no number is given; write one, such as rate: 100/1m, or leave the policy out of the plan");
  }
  rules::Definition numbers;
  read_table(in, plan_number_keys, numbers);
  if (has_both_rates(in) || policy.numbers.rates.empty()) return;
  if (limiter::is_concurrency(policy) && in.has("queue")) {
    in.at_key("queue").error(
        "a plan cannot change the queue of a concurrency policy, only its limit; write queue and "
        "max_wait in the policy");
    return;
  }
  compile_terms(in,
                {.config = config,
                 .policy = policy,
                 .hides_numbers = in.shown_here().hides_numbers() ||
                                  in.shown_root()["policies"][policy.name].hides_numbers()},
                replaced(policy.definition, numbers, in), to);
}

void read_planned(const Cursor& in, const Config& config, limiter::Policy& policy,
                  std::size_t plan) {
  limiter::PlannedTerms planned{.plan = plan, .unlimited = false, .terms = {}};
  if (in.is_map()) {
    read_numbers(in, config, policy, planned.terms);
  } else {
    const auto text = in.node().kind == Node::Kind::scalar ? in.text() : std::nullopt;
    if (text != unlimited_word)
      return in.error("expected unlimited, or numbers such as {rate: 6000/1m}");
    planned.unlimited = true;
  }
  policy.planned.push_back(std::move(planned));
}

void read_plan(const Cursor& in, std::size_t plan, Config& to) {
  if (!in.expect_map(
          "a map of policies to their numbers, such as {per_user: {rate: 6000/1m}}, or {}"))
    return;
  for (const Entry& entry : in.node().entries) {
    const Cursor value = in.at(entry);
    const auto policy = find_named(
        value, {.what = "policy", .written = entry.key, .shown = entry.key}, to.limiter.policies);
    if (policy) read_planned(value, to, to.limiter.policies[*policy], plan);
  }
}

/// An entry of plan_from while it is read.
struct PlanSourceDraft {
  Config& config;
  std::string header;
  std::optional<std::size_t> identity{};
  std::optional<DataFile> file{};
  identity::FromClaim claim{};
};

void read_source_header(const Cursor& in, PlanSourceDraft& to) {
  auto name = read_field_name(in, "expected a name of letters, digits and -, such as x-plan");
  if (!name) return;
  to.header = *std::move(name);
  if (to.config.proxy.client_address.trusted_proxies.empty()) {
    in.warn(
        "never read: a field names a plan only if it comes from a trusted proxy, and "
        "client_address.trusted_proxies is empty");
  }
}

constexpr Key<PlanSourceDraft> plan_source_keys[] = {
    {.name = "jwt",
     .read =
         [](const Cursor& in, PlanSourceDraft& to) {
           read_claim(in, to.config.limiter.token_providers, to.claim);
         }},
    {.name = "header", .read = read_source_header},
    {.name = "file",
     .read = [](const Cursor& in, PlanSourceDraft& to) { to.file = read_data_file_name(in); }},
    {.name = "key",
     .read =
         [](const Cursor& in, PlanSourceDraft& to) {
           to.identity = read_reference(in, "identity", to.config.limiter.identities);
         }},
};

void add_file(const Cursor& in, const DataFile& file, std::size_t identity, Config& to) {
  PlanFileContent read;
  if (in.environment().reads_data_files)
    read = read_plan_file(file.path, file.shown, plan_line_rules(to, identity));
  note_content(in, read);
  const Replaceable<limiter::PlanTable> table(std::move(read.table));
  to.limiter.plans.sources.push_back(
      {limiter::PlanFromFile{.identity = identity, .shown = file.shown, .table = table}});
  to.plan_files.push_back({file, table, identity});
}

void read_plan_source(const Cursor& in, Config& to) {
  PlanSourceDraft draft{.config = to, .header = {}};
  if (!read_table(in, plan_source_keys, draft)) return;
  const int sources =
      (in.has("jwt") ? 1 : 0) + (in.has("header") ? 1 : 0) + (in.has("file") ? 1 : 0);
  if (sources != 1) {
    return in.error(
        "expected one source: {jwt: {provider: NAME, claim: NAME}}, {header: NAME}, or {file: "
        "NAME, "
        "key: IDENTITY}");
  }
  if (!in.has("file") && in.has("key"))
    return in.at_key("key").error(
        "only with file: the value of this source is the plan's name; remove it");
  if (in.has("file") && !in.has("key"))
    return in.error(
        "the key \"key\" is missing: name the identity that the file's lines begin with");
  if (!draft.header.empty()) {
    to.limiter.plans.sources.push_back({limiter::PlanFromHeader{draft.header}});
  } else if (!draft.claim.provider.empty()) {
    to.limiter.plans.sources.push_back({limiter::PlanFromClaim{{draft.claim}}});
  } else if (draft.identity && draft.file) {
    add_file(in.at_key("file"), *draft.file, *draft.identity, to);
  }
}

}  // namespace

void read_plans(const Cursor& in, Config& to) {
  for_each_named(in, "a map of plans by name", limiter::plan_limit,
                 [&](const std::string& name, const Cursor& entry) {
                   to.limiter.plans.names.push_back(name);
                   read_plan(entry, to.limiter.plans.names.size() - 1, to);
                 });
  to.limiter.plans.index_names();
}
void read_plan_from(const Cursor& in, Config& to) {
  if (to.limiter.plans.names.empty())
    return in.error("no plan is defined; add plans, or remove plan_from");
  for_each_item(in, "a list of sources, such as [{header: x-plan}]", most_plan_sources,
                [&](const Cursor& item) { read_plan_source(item, to); });
}
std::optional<std::size_t> read_plan_name(const Cursor& in, const Config& config) {
  const auto written = in.text();
  if (!written) return std::nullopt;
  const std::vector<std::string_view> names(config.limiter.plans.names.begin(),
                                            config.limiter.plans.names.end());
  return find_among(in, {.what = "plan", .written = *written, .shown = in.node().text}, names);
}

void read_default_plan(const Cursor& in, Config& to) {
  to.limiter.plans.default_plan = read_plan_name(in, to);
}

void warn_of_unassigned_plans(const Cursor& root, const Config& config) {
  const limiter::Plans& plans = config.limiter.plans;
  if (plans.names.empty() || !plans.sources.empty()) return;
  for (std::size_t plan = 0; plan < plans.names.size(); ++plan) {
    if (plan == plans.default_plan) continue;
    root.at_key("plans")
        .at_key(plans.names[plan])
        .warn("never in force: plan_from has no source that could name it");
  }
}

}  // namespace weir::config
