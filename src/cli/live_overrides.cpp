#include "cli/live_overrides.hpp"

#include <algorithm>
#include <iostream>
#include <string>
#include <utility>

#include "app/override_request.hpp"
#include "cli/override_reply.hpp"

namespace weir::cli {
namespace {

std::string hash_text(const Hash128& identity) {
  std::string text = "hash:";
  append_hex(text, identity);
  return text;
}

/// A listed override has the members that put it.
std::vector<store::Override> overrides_in(const OverrideList& list, const std::string& key,
                                          const app::OverrideContext& context, Instant now) {
  std::vector<store::Override> entries;
  for (nlohmann::ordered_json entry : list.entries) {
    entry.erase("hash");
    const bool is_malformed = entry.contains("malformed");
    entry["key"] = key;
    auto put = app::read_override(entry.dump(), context, now);
    if (put && !is_malformed) {
      entries.push_back(std::move(put->entry));
      continue;
    }
    std::cerr << "weir explain: an override of " << key << " is left out: "
              << (is_malformed ? std::string("it is malformed") : put.error().message) << '\n';
  }
  return entries;
}

}  // namespace

std::optional<std::vector<KnownOverrides>> live_overrides(const AdminTarget& target,
                                                          const Explanation& explanation,
                                                          const config::Config& config, Instant now,
                                                          int& code) {
  std::vector<std::string> names;
  for (const limiter::Policy& policy : config.policies)
    names.push_back(policy.name);
  std::vector<KnownOverrides> known;
  for (const ExplainedLimit& limit : explanation.limits) {
    const auto& hash = limit.identity.hash;
    if (!hash || std::ranges::find(known, *hash, &KnownOverrides::identity) != known.end())
      continue;
    const std::string key = hash_text(*hash);
    const auto reply =
        ask_admin_of(target, "explain", {.target = "/v1/overrides?key=" + key}, code);
    if (!reply) return std::nullopt;
    const auto list = read_override_list(reply->body);
    if (!list) {
      code = reject_answer(target, "explain");
      return std::nullopt;
    }
    known.push_back(
        {.identity = *hash,
         .entries = overrides_in(*list, key, {.config = config, .policy_names = names}, now)});
  }
  return known;
}

}  // namespace weir::cli
