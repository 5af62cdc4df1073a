#include "config/key_digests.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "config/document.hpp"

namespace weir::config {
namespace {

/// The sections that consist of named entries, apart from `routes`.
constexpr std::array<std::string_view, 7> sections_with_entries{
    "store", "upstreams", "jwt_providers", "identities", "address_lists", "policies", "plans"};
constexpr std::array<std::string_view, 3> restart_keys{"workers", "identity_secret", "store.type"};

bool is_listed(std::span<const std::string_view> all, std::string_view key) {
  return std::ranges::find(all, key) != all.end();
}

/// Writes values so that two of them have the same text only if they are the same.
class ValueWriter {
 public:
  ValueWriter(const Variables& variables, const FileDigests& files)
      : variables_(variables), files_(files) {}

  std::string text_of(const Node& node) {
    text_.clear();
    write(node);
    return std::move(text_);
  }

 private:
  void write(const Node& node) {
    switch (node.kind) {
      case Node::Kind::null:
        text_ += '~';
        return;
      case Node::Kind::scalar:
        write_scalar(node);
        return;
      case Node::Kind::sequence:
        text_ += '[';
        for (const Node& item : node.items)
          write(item);
        text_ += ']';
        return;
      case Node::Kind::map:
        write_map(node);
        return;
    }
  }

  void write_scalar(const Node& node) {
    const auto expanded = expand_variables(node.text, variables_);
    write_text(expanded ? *expanded : node.text);
    if (const auto file = files_.find(&node); file != files_.end()) append_hex(text_, file->second);
  }

  void write_map(const Node& node) {
    std::vector<const Entry*> entries;
    for (const Entry& entry : node.entries)
      entries.push_back(&entry);
    std::ranges::sort(entries, {}, &Entry::key);
    text_ += '{';
    for (const Entry* const entry : entries) {
      write_text(entry->key);
      write(entry->value);
    }
    text_ += '}';
  }

  void write_text(std::string_view text) {
    text_.append(std::to_string(text.size())).append(":").append(text);
  }

  const Variables& variables_;
  const FileDigests& files_;
  std::string text_;
};

std::vector<std::string_view> routes_in(const KeyDigests& digests) {
  std::vector<std::string_view> routes;
  for (const auto& [key, digest] : digests) {
    if (key.starts_with("routes.")) routes.push_back(key);
  }
  return routes;
}

bool are_routes_reordered(const KeyDigests& before, const KeyDigests& after) {
  auto old_routes = routes_in(before);
  auto new_routes = routes_in(after);
  if (old_routes == new_routes) return false;
  std::ranges::sort(old_routes);
  std::ranges::sort(new_routes);
  return old_routes == new_routes;
}

}  // namespace

KeyDigests key_digests(const Node& root, const std::vector<options::Route>& routes,
                       const Variables& variables, const FileDigests& files) {
  KeyDigests digests;
  ValueWriter writer(variables, files);
  const auto add = [&](const std::string& key, const Node& value) {
    if (is_listed(restart_keys, key)) return;
    digests.push_back({.key = key, .digest = siphash128(SipKey{}, writer.text_of(value))});
  };
  for (const auto& [section, position, value] : root.entries) {
    if (section == "routes") {
      for (std::size_t i = 0; i < value.items.size(); ++i)
        add("routes." + routes[i].name, value.items[i]);
    } else if (is_listed(sections_with_entries, section) && value.kind == Node::Kind::map) {
      for (const Entry& entry : value.entries)
        add(section + '.' + entry.key, entry.value);
    } else {
      add(section, value);
    }
  }
  return digests;
}

std::vector<std::string> changed_keys(const KeyDigests& before, const KeyDigests& after) {
  std::unordered_map<std::string_view, Hash128> gone;
  for (const auto& [key, digest] : before)
    gone.emplace(key, digest);
  std::vector<std::string> changed;
  for (const auto& [key, digest] : after) {
    const auto known = gone.find(key);
    if (known == gone.end() || known->second != digest) changed.push_back(key);
    if (known != gone.end()) gone.erase(known);
  }
  for (const auto& [key, digest] : before) {
    if (gone.contains(key)) changed.push_back(key);
  }
  if (are_routes_reordered(before, after)) changed.emplace_back("routes");
  return changed;
}

}  // namespace weir::config
