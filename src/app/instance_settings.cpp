#include "app/instance_settings.hpp"

#include <algorithm>
#include <map>

#include "base/siphash.hpp"
#include "config/key_path.hpp"
#include "redis/policy_numbers.hpp"

namespace weir::app {
namespace {

constexpr std::size_t most_named_policies = 200;
constexpr std::string_view algorithm_suffix = ".algorithm";
constexpr std::string_view anchor_suffix = ".anchor";

/// The same in every instance: these texts are no secrets.
std::string digest_of(std::string_view text) {
  std::string digest;
  append_hex(digest, siphash128(SipKey{}, text));
  return digest;
}

/// A secret of enough entropy cannot be found from it, just as it cannot be from the hash of an
/// identity.
std::string digest_of_key(SipKey key) {
  std::string digest;
  append_hex(digest, siphash128(key, "instance settings"));
  return digest;
}

std::string digest_of_numbers(const rules::Policy& policy) {
  std::string numbers = policy.count_rejected ? "count_rejected" : "";
  redis::each_number(policy, [&numbers](std::int64_t number) {
    numbers.append(" ").append(std::to_string(number));
  });
  return digest_of(numbers);
}

void append_setting(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append("\t").append(value).append("\n");
}

std::string policy_settings(const limiter::Policy& policy) {
  const std::string path = config::key_path("policies", policy.name);
  std::string text;
  append_setting(text, path + std::string(algorithm_suffix), to_string(policy.numbers.algorithm));
  append_setting(text, path + std::string(anchor_suffix),
                 policy.numbers.anchor == rules::Anchor::clock ? "clock" : "first_request");
  append_setting(text, path, digest_of_numbers(policy.numbers));
  return text;
}

using Settings = std::map<std::string_view, std::string_view>;

Settings settings_in(std::string_view text) {
  Settings settings;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t tab = line.find('\t');
    if (tab != std::string_view::npos) settings.emplace(line.substr(0, tab), line.substr(tab + 1));
  }
  return settings;
}

bool differs(const Settings& here, const Settings& there, std::string_view name) {
  const auto mine = here.find(name);
  const auto theirs = there.find(name);
  return mine != here.end() && theirs != there.end() && mine->second != theirs->second;
}

/// For the numbers and the anchor of a policy whose algorithm differs.
bool is_of_other_algorithm(const Settings& here, const Settings& there, std::string_view name) {
  if (name.ends_with(anchor_suffix)) name.remove_suffix(anchor_suffix.size());
  return differs(here, there, std::string(name).append(algorithm_suffix));
}

}  // namespace

std::string instance_settings(const config::Config& config) {
  std::string text;
  append_setting(text, "identity_secret", digest_of_key(config.identity_key));
  append_setting(text, "client_address.ipv4_prefix",
                 std::to_string(config.client_address.ipv4_prefix));
  append_setting(text, "client_address.ipv6_prefix",
                 std::to_string(config.client_address.ipv6_prefix));
  append_setting(text, "store.redis.replicas", std::to_string(config.redis.replicas));
  std::string policies;
  for (const limiter::Policy& policy : config.policies)
    policies += policy_settings(policy);
  if (config.policies.size() <= most_named_policies) return text += policies;
  append_setting(text, "policies", digest_of(policies));
  return text;
}

std::vector<std::string> differing_settings(std::string_view mine, std::string_view theirs) {
  const Settings here = settings_in(mine);
  const Settings there = settings_in(theirs);
  std::vector<std::string> names;
  for (const auto& [name, value] : here) {
    if (differs(here, there, name) && !is_of_other_algorithm(here, there, name))
      names.emplace_back(name);
  }
  return names;
}

}  // namespace weir::app
