// References by name: `policy: per_client` -> its index, or a complaint with the nearest name.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "config/cursor.hpp"

namespace weir::config {

std::optional<std::size_t> find_among(const Cursor& in, std::string_view what,
                                      std::string_view written,
                                      std::span<const std::string_view> names);

/// `what` is the singular for the message: "policy".
template <class Named>
std::optional<std::size_t> find_named(const Cursor& in, std::string_view what,
                                      std::string_view written, const std::vector<Named>& all) {
  std::vector<std::string_view> names;
  names.reserve(all.size());
  for (const Named& one : all)
    names.push_back(one.name);
  return find_among(in, what, written, names);
}

template <class Named>
std::optional<std::size_t> read_reference(const Cursor& in, std::string_view what,
                                          const std::vector<Named>& all) {
  const auto written = in.text();
  return written ? find_named(in, what, *written, all) : std::nullopt;
}

}  // namespace weir::config
