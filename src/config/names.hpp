// Resolves references by name: `policy: per_client` to its index, or an error with the nearest
// name.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "config/cursor.hpp"

namespace weir::config {

/// `written` is looked up, `shown` is the text in the file.
struct Reference {
  std::string_view what;  ///< the singular for the message: "policy"
  std::string_view written;
  std::string_view shown;
};
std::optional<std::size_t> find_among(const Cursor& in, const Reference& reference,
                                      std::span<const std::string_view> names);

template <class Named>
std::optional<std::size_t> find_named(const Cursor& in, const Reference& reference,
                                      const std::vector<Named>& all) {
  std::vector<std::string_view> names;
  names.reserve(all.size());
  for (const Named& one : all)
    names.push_back(one.name);
  return find_among(in, reference, names);
}

template <class Named>
std::optional<std::size_t> read_reference(const Cursor& in, std::string_view what,
                                          const std::vector<Named>& all) {
  const auto written = in.text();
  if (!written) return std::nullopt;
  return find_named(in, {.what = what, .written = *written, .shown = in.node().text}, all);
}

}  // namespace weir::config
