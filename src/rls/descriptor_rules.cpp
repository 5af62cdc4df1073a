#include "rls/descriptor_rules.hpp"

#include <algorithm>
#include <functional>

namespace weir::rls {
namespace {

using Entries = std::span<const identity::DescriptorEntry>;

std::vector<std::string_view> pattern_parts(std::string_view pattern) {
  std::vector<std::string_view> parts;
  for (std::size_t star = 0; (star = pattern.find('*')) != std::string_view::npos;) {
    parts.push_back(pattern.substr(0, star));
    pattern.remove_prefix(star + 1);
  }
  parts.push_back(pattern);
  return parts;
}

/// Whether the names of hits depend on the value of an entry that this descriptor matches.
bool names_value(const options::DescriptorNode& node) {
  if (node.key.find('*') != std::string::npos) return true;  // the name has the key of the request
  const bool is_pattern = node.text.find('*') != std::string::npos;
  const bool has_any_value = is_pattern ? !node.share_threshold : node.text == node.key;
  return node.value_to_metric && has_any_value;
}

void build(DescriptorLevel& level, const std::vector<options::DescriptorNode>& nodes,
           bool names_values = false) {
  for (const options::DescriptorNode& node : nodes) {
    auto& child = level.children[node.text];
    child = std::make_unique<DescriptorLevel>();
    child->node = &node;
    if (node.limit) child->metadata = encoded_metadata(node.limit->metadata);
    const bool has_values = names_values || names_value(node);
    child->names_values = has_values || (node.limit && node.limit->detailed_metric);
    build(*child, node.children, has_values);
    if (node.text.find('*') != std::string::npos)
      level.patterns.push_back({.parts = pattern_parts(node.text), .level = child.get()});
  }
}

/// The value of an entry as the pattern of its node has it.
std::string_view pattern_of(const options::DescriptorNode& node, std::string_view key) {
  std::string_view text = node.text;
  if (text.starts_with(key) && text.substr(key.size()).starts_with('_'))
    text.remove_prefix(key.size() + 1);
  return text;
}

EntryMatch match_entry(const DescriptorLevel& level, const identity::DescriptorEntry& entry,
                       std::string& text) {
  const auto child = [&](std::string_view name) -> const DescriptorLevel* {
    const auto found = level.children.find(name);
    return found == level.children.end() ? nullptr : found->second.get();
  };
  text.assign(entry.key).append(1, '_').append(entry.value);
  if (const auto* const exact = child(text)) return {exact, EntryMatch::By::value};
  for (const DescriptorLevel::Pattern& pattern : level.patterns)
    if (matches_pattern(pattern.parts, text)) return {pattern.level, EntryMatch::By::pattern};
  return {child(entry.key), EntryMatch::By::key};
}

/// The value of an entry in the name of hits; empty: none.
std::string_view value_in_name(const EntryMatch& match, const identity::DescriptorEntry& entry,
                               bool has_all_values) {
  const options::DescriptorNode& node = *match.level->node;
  if (match.shares_count()) return pattern_of(node, entry.key);
  if (has_all_values || match.by == EntryMatch::By::value || node.value_to_metric)
    return entry.value;
  return match.by == EntryMatch::By::pattern ? pattern_of(node, entry.key) : std::string_view();
}

}  // namespace

bool EntryMatch::shares_count() const {
  return by == By::pattern && level->node->share_threshold;
}

bool matches_pattern(std::span<const std::string_view> parts, std::string_view value) {
  const std::string_view first = parts.front();
  const std::string_view last = parts.back();
  if (value.size() < first.size() + last.size()) return false;
  if (!value.starts_with(first) || !value.ends_with(last)) return false;
  value = value.substr(first.size(), value.size() - first.size() - last.size());
  for (const std::string_view part : parts.subspan(1, parts.size() - 2)) {
    const std::size_t found = value.find(part);
    if (found == std::string_view::npos) return false;
    value.remove_prefix(found + part.size());
  }
  return true;
}

bool matches(const options::PolicyDescriptor& wanted, Entries entries) {
  return entries.size() == wanted.entries.size() &&
         std::ranges::all_of(wanted.entries, [&](const options::PolicyDescriptor::Entry& entry) {
           const auto found =
               std::ranges::find(entries, entry.key, &identity::DescriptorEntry::key);
           return found != entries.end() && (!entry.value || *entry.value == found->value);
         });
}

Hash128 key_of(const options::PolicyDescriptor& descriptor, Entries entries,
               const identity::ValueOptions& values, const limiter::Options& limits,
               std::vector<identity::DescriptorEntry>& scratch) {
  scratch.clear();
  for (const std::string& key : descriptor.key)
    scratch.push_back(*std::ranges::find(entries, key, &identity::DescriptorEntry::key));
  if (descriptor.identity) {
    const auto keys = identity::keys_of(limits.identities[*descriptor.identity].source,
                                        scratch.front().value, values, limits.identity_key);
    if (!keys.empty()) return keys.front();
  }
  return identity::key_of_entries(scratch, configured_kind, limits.identity_key);
}

DescriptorRules::DescriptorRules(const options::RateLimitService& options) : options_(options) {
  for (const options::DescriptorDomain& domain : options.domains)
    build(domains_[domain.name].root, domain.descriptors);
  for (const options::PolicyDescriptor& descriptor : options.descriptors)
    domains_[descriptor.domain].policies.push_back(&descriptor);
  const auto exact_values = [](const options::PolicyDescriptor* descriptor) {
    return std::ranges::count_if(descriptor->entries,
                                 [](const auto& entry) { return entry.value.has_value(); });
  };
  for (auto& [name, domain] : domains_)
    std::ranges::stable_sort(domain.policies, std::greater(), exact_values);
}

const DomainRules* DescriptorRules::find_domain(std::string_view name) const {
  const auto found = domains_.find(name);
  return found == domains_.end() ? nullptr : &found->second;
}

FileLimit find_limit(const DomainRules& domain, Entries entries, SearchScratch& scratch) {
  scratch.counted.assign(entries.begin(), entries.end());
  const DescriptorLevel* level = &domain.root;
  for (identity::DescriptorEntry& entry : scratch.counted) {
    const EntryMatch match = match_entry(*level, entry, scratch.text);
    if (match.level == nullptr) return {};
    level = match.level;
    if (match.shares_count()) entry.value = pattern_of(*level->node, entry.key);
  }
  if (level->node == nullptr || !level->node->limit) return {};
  return {.limit = &*level->node->limit,
          .metadata = &level->metadata,
          .names_values = level->names_values,
          .counted = scratch.counted};
}

void append_hits_name(std::string& to, std::string_view domain_name, const DomainRules& domain,
                      Entries entries, SearchScratch& scratch) {
  scratch.matches.clear();
  const DescriptorLevel* level = &domain.root;
  for (const identity::DescriptorEntry& entry : entries) {
    scratch.matches.push_back(match_entry(*level, entry, scratch.text));
    level = scratch.matches.back().level;
    if (level == nullptr) return;
  }
  const bool has_all_values = level->node->limit && level->node->limit->detailed_metric;
  // With all values the reference writes `KEY_` for an empty one, unless a pattern has one count.
  const bool shows_empty_values =
      has_all_values && std::ranges::none_of(scratch.matches, &EntryMatch::shares_count);
  to.append(domain_name);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string_view value = value_in_name(scratch.matches[i], entries[i], has_all_values);
    to.append(1, '.').append(entries[i].key);
    if (!value.empty() || shows_empty_values) to.append(1, '_').append(value);
  }
}

std::vector<const options::DescriptorNode*> find_nodes(const DomainRules& domain, Entries entries) {
  std::vector<const options::DescriptorNode*> nodes;
  std::string text;
  const DescriptorLevel* level = &domain.root;
  for (const identity::DescriptorEntry& entry : entries) {
    level = match_entry(*level, entry, text).level;
    if (level == nullptr) break;
    nodes.push_back(level->node);
  }
  return nodes;
}

}  // namespace weir::rls
