#include "config/brace_mask.hpp"

#include <algorithm>

#include "http/characters.hpp"

namespace weir::config {

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
