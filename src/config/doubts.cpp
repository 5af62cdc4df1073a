#include <algorithm>
#include <iterator>

#include "config/hints.hpp"
#include "http/characters.hpp"

namespace weir::config {
namespace {

/// The first words of the names of nginx's variables.
constexpr std::string_view nginx_words[] = {
    "arg",    "args",    "binary", "cookie", "host",   "hostname", "http", "proxy",    "query",
    "remote", "request", "scheme", "sent",   "server", "ssl",      "time", "upstream", "uri"};

/// The length of the variable of Envoy at the start of the text: %REQ(x)%, %RESPONSE_CODE%. Other
/// texts in upper case between percent signs may be encoded.
std::size_t envoy_length(std::string_view text) {
  const std::string_view name = leading_word(text.substr(1));
  std::size_t end = name.size() + 1;
  const bool is_upper = std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
  const bool has_argument = !name.empty() && text.substr(end).starts_with('(');
  if (has_argument) end = std::min(text.find(')', end), text.size() - 1) + 1;
  const bool is_variable = is_upper && (has_argument || name.find('_') != std::string_view::npos);
  return is_variable && text.substr(end).starts_with('%') ? end + 1 : 0;
}

std::size_t nginx_length(std::string_view text) {
  const std::string_view name = leading_word(text.substr(1));
  const std::string_view first = name.substr(0, name.find('_'));
  return std::ranges::find(nginx_words, first) != std::end(nginx_words) ? name.size() + 1 : 0;
}

/// The length of {name} and {a.name}.
std::size_t brace_length(std::string_view text) {
  const std::size_t end = text.find('}');
  if (end == std::string_view::npos || !http::is_alpha(text[1])) return 0;
  const bool is_name = std::ranges::all_of(text.substr(1, end - 1), [](char c) {
    return http::is_alpha(c) || http::is_digit(c) || c == '_' || c == '.' || c == '-';
  });
  return is_name ? end + 1 : 0;
}

}  // namespace

bool looks_like_regex(std::string_view text) {
  constexpr std::string_view signs[] = {".*",   ".+",   "(?",  "[^",  "[0-9",
                                        "[a-z", "[A-Z", "\\d", "\\w", "\\."};
  const bool has_alternatives =
      text.find('(') != std::string_view::npos && text.find('|') != std::string_view::npos;
  return text.starts_with('^') || text.starts_with('~') || has_alternatives ||
         std::ranges::any_of(
             signs, [&](std::string_view one) { return text.find(one) != std::string_view::npos; });
}

std::string pattern_doubt(std::string_view written) {
  if (const std::size_t colon = written.find("/:"); colon != std::string_view::npos) {
    const std::string name(leading_word(written.substr(colon + 2)));
    if (!name.empty())
      return "matches the text \":" + name + "\"; for a segment of any value write {" + name + "}";
  }
  if (!looks_like_regex(written)) return {};
  return "has characters of a regular expression, which match only themselves: * is one segment, "
         "** at the end any number of them";
}

std::string header_value_doubt(std::string_view written) {
  // `*bot*`, but neither `*/*` of Accept, `gzip, *` of Accept-Encoding nor `*` of If-Match.
  const bool has_star_at_end = written.size() > 1 &&
                               written.find_first_of("/,;") == std::string_view::npos &&
                               (written.front() == '*' || written.back() == '*');
  if (!has_star_at_end && !looks_like_regex(written)) return {};
  return "is compared as it is, and is not a pattern: write the whole value, and a route for each "
         "of several; for a part of a value use a proxy before Weir (docs/deploy.md)";
}

std::string_view foreign_variable_in(std::string_view written) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    const std::string_view text = written.substr(i);
    std::size_t length = 0;
    if (text.front() == '$') length = nginx_length(text);
    if (text.front() == '%') length = envoy_length(text);
    if (text.front() == '{' && (i == 0 || written[i - 1] != '$')) length = brace_length(text);
    if (length != 0) return text.substr(0, length);
  }
  return {};
}

}  // namespace weir::config
