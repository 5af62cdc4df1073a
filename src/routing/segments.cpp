#include "routing/segments.hpp"

#include "http/characters.hpp"

namespace weir::routing {

void append_segments(std::string& out, std::string_view path, KeptSegments kept) {
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

int escape_at(std::string_view text) {
  if (text.size() < 3 || text[0] != '%') return -1;
  const int high = http::hex_value(text[1]);
  const int low = http::hex_value(text[2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

}  // namespace weir::routing
