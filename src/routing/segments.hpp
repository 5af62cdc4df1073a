// The segments of a path, one after the other. Pure.
#pragma once

#include <algorithm>
#include <string_view>

namespace weir::routing {

/// Removes the first "/segment" from `path`, which starts with a slash, and returns the segment
/// without its slash.
inline std::string_view take_segment(std::string_view& path) {
  const auto end = std::min(path.find('/', 1), path.size());
  const auto segment = path.substr(1, end - 1);
  path.remove_prefix(end);
  return segment;
}

/// "/" stays "/".
inline std::string_view without_trailing_slash(std::string_view path) {
  if (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return path;
}

}  // namespace weir::routing
