// Functions on the segments and the escapes of a path. Pure.
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
void append_segments(std::string& out, std::string_view path, KeptSegments kept = {});

/// The character that an escape at the start of `text` stands for; -1 if there is none.
int escape_at(std::string_view text);

}  // namespace weir::routing
