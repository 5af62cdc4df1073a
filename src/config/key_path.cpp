#include "config/key_path.hpp"

#include <algorithm>
#include <iterator>

#include "config/suggest.hpp"

namespace weir::config {

namespace {

std::string step(std::string_view key) {
  const std::string shown = in_quotes(key);
  const bool is_whole = shown.size() == key.size() + 2;
  const bool is_plain = !key.empty() && is_whole && is_printable_ascii(key) &&
                        key.find_first_of(". []\"") == std::string_view::npos;
  return is_plain ? std::string(key) : shown;
}

/// Sections whose entries have names that the operator chose.
constexpr std::string_view named_sections[] = {"upstreams",     "jwt_providers", "identities",
                                               "address_lists", "policies",      "plans"};

/// Removes the next part of a path: a name, a name in quotes, or an index.
std::string_view take_part(std::string_view& path) {
  if (path.starts_with('.')) path.remove_prefix(1);
  std::size_t end = 0;
  if (path.starts_with('"')) {
    end = std::min(path.find('"', 1), path.size() - 1) + 1;
  } else if (path.starts_with('[')) {
    end = std::min(path.find(']'), path.size() - 1) + 1;
  } else {
    end = std::min(path.find_first_of(".["), path.size());
  }
  const std::string_view part = path.substr(0, end);
  path.remove_prefix(end);
  return part;
}

}  // namespace

std::string key_path(const std::string& parent, std::string_view key) {
  return parent.empty() ? step(key) : parent + "." + step(key);
}

std::string item_path(const std::string& parent, std::size_t index) {
  return parent + "[" + std::to_string(index) + "]";
}

std::string shape_of(std::string_view path) {
  std::string shape(take_part(path));
  bool is_named = std::ranges::find(named_sections, shape) != std::end(named_sections);
  const std::size_t names = !is_named ? 0 : shape == "plans" ? 2 : 1;
  for (std::size_t depth = 0; !path.empty(); ++depth) {
    const std::string_view part = take_part(path);
    if (part.starts_with('[')) {
      shape += "[]";
    } else {
      (shape += '.') += depth < names ? "*" : part;
    }
  }
  return shape;
}

bool is_printable_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c <= 0x7E; });
}

}  // namespace weir::config
