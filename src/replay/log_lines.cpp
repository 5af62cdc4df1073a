#include "replay/log_lines.hpp"

#include <algorithm>
#include <utility>

namespace weir::replay {

std::optional<LogLines::Read> LogLines::next(bool is_end) {
  while (const auto line = take_line(is_end)) {
    ++number_;
    if (std::exchange(is_too_long_, false)) return Read(LineFault::length);
    if (!line->empty()) return read(*line);
  }
  return std::nullopt;
}

/// Takes a line without its end.
std::optional<std::string_view> LogLines::take_line(bool is_end) {
  if (std::exchange(was_kept_, false)) kept_.clear();
  const std::size_t end = rest_.find('\n');
  const bool is_whole = end != std::string_view::npos;
  std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(is_whole ? end + 1 : rest_.size());
  if (!is_whole || !kept_.empty()) {
    const std::size_t room = longest - std::min(longest, kept_.size());
    is_too_long_ |= line.size() > room;
    kept_.append(line.substr(0, room));
    if (!is_whole && (!is_end || kept_.empty())) return std::nullopt;
    was_kept_ = true;
    line = kept_;
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

LogLines::Read LogLines::read(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  const bool is_json = begin != std::string_view::npos && line[begin] == '{';
  return is_json ? json_.read(line) : text_.read(line);
}

}  // namespace weir::replay
