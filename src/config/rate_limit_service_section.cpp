// `rate_limit_service`: the service that Envoy and other proxies ask for decisions.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/sections.hpp"
#include "identity/identity.hpp"

namespace weir::config {
namespace {

constexpr std::size_t most_service_descriptors = 10'000;
constexpr std::size_t most_descriptor_entries = 64;
constexpr std::string_view any_value = "*";

// Descriptors that name policies.

struct DescriptorDraft {
  const Config& config;
  options::PolicyDescriptor descriptor{};
  bool has_policy = false;
};

void read_domain(const Cursor& in, DescriptorDraft& to) {
  read_text(in, to.descriptor.domain);
  if (to.descriptor.domain.empty() && in.node().kind == Node::Kind::scalar)
    in.error("the domain is empty; write that of Envoy's rate limit filter, such as edge");
}

void read_entries(const Cursor& in, DescriptorDraft& to) {
  if (!in.expect_map("a map of entries to their values")) return;
  if (in.node().entries.empty())
    return in.error("expected the entries of a descriptor, such as {remote_address: \"*\"}");
  if (in.node().entries.size() > most_descriptor_entries)
    return in.error("more than " + std::to_string(most_descriptor_entries) + " entries");
  for (const Entry& entry : in.node().entries) {
    const Cursor value = in.at(entry);
    if (entry.key.empty()) value.error("the key of an entry is empty; write one");
    auto text = value.text();
    if (!text) continue;
    auto& read = to.descriptor.entries.emplace_back();
    read.key = entry.key;
    if (*text != any_value) read.value = *std::move(text);
  }
}

/// A policy that can decide about a descriptor.
void read_service_policy(const Cursor& in, DescriptorDraft& to) {
  const auto policy = read_reference(in, "policy", to.config.limiter.policies);
  if (!policy) return;
  to.descriptor.policy = *policy;
  to.has_policy = true;
  switch (to.config.limiter.policies[*policy].definition.algorithm) {
    case rules::Algorithm::concurrency:
      return in.error(
          "a concurrency policy needs the end of each request, which the service does not learn; "
          "use another algorithm");
    case rules::Algorithm::attributed_window:
      return in.error(
          "the attributes of this policy are those of an HTTP request, which the service does not "
          "get; use another algorithm");
    default:
      return;
  }
}

using Entries = std::vector<options::PolicyDescriptor::Entry>;

/// True if an entry has this key; else reports it.
bool is_entry(const Cursor& in, const std::string& key, const Entries& entries) {
  std::vector<std::string_view> names;
  for (const auto& entry : entries)
    names.push_back(entry.key);
  const Reference reference{
      .what = "entry of this descriptor", .written = key, .shown = in.node().text};
  return find_among(in, reference, names).has_value();
}

/// Names of entries.
void read_entry_names(const Cursor& in, DescriptorDraft& to) {
  if (in.is_empty_list()) return;
  auto& key = to.descriptor.key;
  for_each_item(in, "a list of entries, such as [remote_address]", most_descriptor_entries,
                [&](const Cursor& item) {
                  const auto text = item.text();
                  if (!text) return;
                  if (std::ranges::find(key, *text) != key.end())
                    return item.error("the entry is written twice; keep one");
                  // The entries may be wrong, which has been reported.
                  if (to.descriptor.entries.empty()) return key.push_back(*text);
                  if (is_entry(item, *text, to.descriptor.entries)) key.push_back(*text);
                });
}

void read_key_identity(const Cursor& in, DescriptorDraft& to) {
  const auto& identities = to.config.limiter.identities;
  const auto identity = read_reference(in, "identity", identities);
  if (!identity) return;
  if (!identity::has_one_value(identities[*identity].source))
    return in.error(
        "the identity has several values, and an entry has one; use an identity of one value");
  to.descriptor.identity = *identity;
}

constexpr Key<DescriptorDraft> policy_descriptor_keys[] = {
    {.name = "domain", .read = read_domain, .required = true},
    {.name = "entries", .read = read_entries, .required = true},
    {.name = "policy", .read = read_service_policy, .required = true},
    {.name = "key", .read = read_entry_names},
    {.name = "identity", .read = read_key_identity},
};

void check_key_identity(const Cursor& in, const options::PolicyDescriptor& descriptor) {
  if (!descriptor.identity || descriptor.key.size() == 1) return;
  if (in.has("key") && descriptor.key.empty() && !in.at_key("key").is_empty_list()) return;
  in.at_key("identity")
      .error("the value of one entry is the identity; write one name in key, as in key: [api_key]");
}

/// The same text for the same domain and entries, in any order.
std::string text_of_entries(const options::PolicyDescriptor& descriptor) {
  std::vector<std::string> parts{descriptor.domain};
  for (const auto& entry : descriptor.entries) {
    parts.push_back(std::to_string(entry.key.size()) + ':' + entry.key +
                    (entry.value ? '=' + *entry.value : ""));
  }
  std::sort(parts.begin() + 1, parts.end());
  std::string text;
  for (const std::string& part : parts)
    text.append(std::to_string(part.size())).append(":").append(part);
  return text;
}

void read_service_descriptors(const Cursor& in, const Config& config,
                              std::vector<options::PolicyDescriptor>& to) {
  if (in.is_empty_list()) return;
  std::set<std::string> known;
  for_each_item(in, "a list of descriptors", most_service_descriptors, [&](const Cursor& item) {
    DescriptorDraft draft{.config = config};
    if (!read_table(item, policy_descriptor_keys, draft)) return;
    check_key_identity(item, draft.descriptor);
    if (!draft.descriptor.entries.empty() &&
        !known.insert(text_of_entries(draft.descriptor)).second)
      item.at_key("entries").error("another of the list has the same domain and entries; keep one");
    if (draft.has_policy) to.push_back(std::move(draft.descriptor));
  });
}

// The section.

struct ServiceDraft {
  Config& config;
  options::RateLimitService service{};
  bool in_shadow = false;  ///< shadow_mode
};

constexpr Key<ServiceDraft> service_keys[] = {
    {.name = "listen",
     .read = [](const Cursor& in, ServiceDraft& to) { read_service_listen(in, to.config); }},
    {.name = "algorithm",
     .read =
         [](const Cursor& in, ServiceDraft& to) {
           read_choice(in, to.service.algorithm,
                       {{"reference", rules::Algorithm::fixed_window},
                        {"gcra", rules::Algorithm::gcra},
                        {"sliding_window", rules::Algorithm::sliding_window}});
         }},
    {.name = "charge",
     .read =
         [](const Cursor& in, ServiceDraft& to) {
           read_choice(in, to.service.charges_each, {{"all", false}, {"reference", true}});
         }},
    {.name = "headers",
     .read = [](const Cursor& in,
                ServiceDraft& to) { read_service_headers(in, to.service.headers); }},
    {.name = "reference_metrics",
     .read = read::flag<&ServiceDraft::service, &options::RateLimitService::reference_metrics>},
    {.name = "shadow_mode", .read = read::flag<&ServiceDraft::in_shadow>},
    {.name = "files",
     .read =
         [](const Cursor& in, ServiceDraft& to) {
           to.service.domains = read_limit_files(in, to.service, to.in_shadow, to.config);
         }},
    {.name = "descriptors",
     .read =
         [](const Cursor& in, ServiceDraft& to) {
           read_service_descriptors(in, to.config, to.service.descriptors);
         }},
    {.name = "reservations",
     .read = read::flag<&ServiceDraft::service, &options::RateLimitService::reservations>},
    {.name = "near_limit_ratio",
     .read = read::with<read_share, &ServiceDraft::service,
                        &options::RateLimitService::near_limit_ratio>},
};

/// The identity that stands for the entries of descriptors, in logs and lists of keys.
constexpr std::string_view descriptor_identity = "descriptor";
/// The policy of limits that requests state themselves.
constexpr std::string_view stated_policy = "stated_limit";

template <class Named>
void check_unused_name(const Cursor& in, const std::vector<Named>& all, std::string_view name,
                       std::string_view kind) {
  if (std::ranges::find(all, name, &Named::name) == all.end()) return;
  in.error("the rate limit service has " + std::string(kind) + " of the name " + in_quotes(name) +
           "; rename that of the configuration");
}

void add_descriptor_identity(const Cursor& in, Config& config, options::RateLimitService& service) {
  auto& identities = config.limiter.identities;
  check_unused_name(in, identities, descriptor_identity, "an identity");
  service.identity = identities.size();
  identities.push_back({.name = std::string(descriptor_identity), .source = {identity::AllOf{}}});
}

void add_stated_policy(const Cursor& in, Config& config, bool in_shadow,
                       options::RateLimitService& service) {
  auto& policies = config.limiter.policies;
  check_unused_name(in, policies, stated_policy, "a policy");
  limiter::Policy policy;
  policy.name = stated_policy;
  policy.name_item = http::name_item(policy.name);
  policy.shadow = in_shadow;
  policy.visible = !in_shadow;
  policy.on_failure = config.redis.on_failure;
  policy.definition.algorithm = service.algorithm;
  // Never charged; large enough for a share of each instance.
  policy.definition.rates = {{.count = 1'000'000, .per = std::chrono::seconds(1)}};
  if (service.algorithm == rules::Algorithm::fixed_window) {
    policy.definition.anchor = rules::Anchor::clock;
    policy.definition.count_rejected = service.charges_each;
  }
  policy.numbers = rules::compile(policy.definition).value();
  service.stated_policy = policies.size();
  policies.push_back(std::move(policy));
}

}  // namespace

void read_rate_limit_service(const Cursor& in, Config& to) {
  ServiceDraft draft{.config = to};
  const http::ResponseFieldOptions& proxy = to.proxy.response_fields;
  draft.service.headers.retry_after = proxy.retry_after;
  draft.service.headers.retry_after_jitter = proxy.retry_after_jitter;
  if (!read_table(in, service_keys, draft)) return;
  if (!in.has("listen")) add_default_service_listener(in, to);
  if (!in.has("files") && !in.has("descriptors"))
    in.warn(
        "has no limits, so that every request is OK; write files: [\"ratelimit/*.yaml\"], or "
        "descriptors");
  add_descriptor_identity(in, to, draft.service);
  add_stated_policy(in, to, draft.in_shadow, draft.service);
  to.rate_limit_service = std::move(draft.service);
}

}  // namespace weir::config
