// Functions on the segments of a path. Pure.
#pragma once

#include <algorithm>
#include <string>
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

/// True if the decoded segment is "." or "..", with or without parameters.
inline bool is_dot_segment(std::string_view decoded) {
  const auto name = decoded.substr(0, decoded.find(';'));
  return name == "." || name == "..";
}

/// "/" stays "/".
inline std::string_view without_trailing_slash(std::string_view path) {
  if (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return path;
}

/// True for segments that append_segments() copies unchanged.
struct KeptSegments {
  bool empty = false;
  bool dots = false;
};

/// Appends `path`, which is empty or starts with a slash, without empty segments, and with dot
/// segments resolved (RFC 3986 section 5.2.4).
inline void append_segments(std::string& out, std::string_view path, KeptSegments kept = {}) {
  const std::size_t start = out.size();
  bool ends_in_slash = true;
  while (!path.empty()) {
    const std::string_view segment = take_segment(path);
    const bool is_dot = !kept.dots && segment == ".";
    const bool is_parent = !kept.dots && segment == "..";
    ends_in_slash = segment.empty() || is_dot || is_parent;
    if (is_parent) out.resize(out.size() > start ? out.rfind('/') : start);
    const bool is_kept = !segment.empty() || (kept.empty && !path.empty());
    if (is_kept && !is_dot && !is_parent) out.append("/").append(segment);
  }
  if (ends_in_slash) out += '/';
}

}  // namespace weir::routing
