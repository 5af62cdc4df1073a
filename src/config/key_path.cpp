#include "config/key_path.hpp"

#include <algorithm>

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

}  // namespace

std::string key_path(const std::string& parent, std::string_view key) {
  return parent.empty() ? step(key) : parent + "." + step(key);
}

std::string item_path(const std::string& parent, std::size_t index) {
  return parent + "[" + std::to_string(index) + "]";
}

bool is_printable_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c <= 0x7E; });
}

}  // namespace weir::config
