#include <algorithm>

#include "base/utf8.hpp"
#include "config/tree_builder.hpp"
#include "http/characters.hpp"

namespace weir::config {

namespace {

bool is_printable(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x20 && byte != 0x7F) || c == '\t' || c == '\n' || c == '\r';
}

}  // namespace

std::optional<Diagnostic> find_bad_byte(std::string_view text) {
  Position position{.line = 1, .column = 1};
  // A text in UTF-16 begins with this mark, or has a zero in each pair of bytes.
  const std::string_view start = text.substr(0, 2);
  if (start == "\xff\xfe" || start == "\xfe\xff" || start.find('\0') != std::string_view::npos)
    return diagnostic_at(position, "this is UTF-16 or no text; save the file as UTF-8");
  while (!text.empty()) {
    const Utf8Step step = next_utf8(text);
    if (!step.well_formed)
      return diagnostic_at(position, "not valid UTF-8; save the file as UTF-8");
    if (!is_printable(text.front()))
      return diagnostic_at(
          position,
          R"(control character in the file; in a value write it as an escape, as "\x07")");
    position.column += static_cast<int>(step.length);
    if (text.front() == '\n') position = {.line = position.line + 1, .column = 1};
    text.remove_prefix(step.length);
  }
  return std::nullopt;
}

namespace {

constexpr char masked_open = '\xFE';
constexpr char masked_close = '\xFF';

bool is_segment_name(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return http::is_alpha(c) || http::is_digit(c) || c == '_' || c == '-';
  });
}

/// The next brace does not close it: `{token: 'a${b'}`.
bool ends_a_quote(std::string_view inside) {
  return inside.substr(0, inside.find(":-")).find_first_of("'\"") != std::string_view::npos;
}

}  // namespace

std::string mask_braces(std::string_view text) {
  std::string out(text);
  for (std::size_t at = 1; (at = out.find('{', at)) != std::string::npos; ++at) {
    const char before = out[at - 1];
    if (before != '$' && before != '/') continue;
    const std::size_t close = out.find_first_of("}\n", at);
    if (close == std::string::npos || out[close] == '\n') continue;
    const std::string_view inside = std::string_view(out).substr(at + 1, close - at - 1);
    if (before == '/' && !is_segment_name(inside)) continue;
    if (before == '$' && ends_a_quote(inside)) continue;
    out[at] = masked_open;
    out[close] = masked_close;
    at = close;
  }
  return out;
}

void unmask_braces(std::string& scalar) {
  std::replace(scalar.begin(), scalar.end(), masked_open, '{');
  std::replace(scalar.begin(), scalar.end(), masked_close, '}');
}

}  // namespace weir::config
