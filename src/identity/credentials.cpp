#include "identity/credentials.hpp"

#include <algorithm>
#include <cstddef>

#include "http/characters.hpp"
#include "http/request_view.hpp"

namespace weir::identity {
namespace {

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool is_canonical_base64(std::string_view text) {
  if (text.size() % 4 != 0) return false;
  const std::size_t size = text.size();
  const auto is_digit = [](char c) { return digits.find(c) != std::string_view::npos; };
  const std::size_t padding = text.ends_with("==") ? 2 : (text.ends_with('=') ? 1 : 0);
  text.remove_suffix(padding);
  if (!std::all_of(text.begin(), text.end(), is_digit)) return false;
  // The last digit before "=" has two unused bits, before "==" four.
  const std::size_t unused = padding == 2 ? 15 : (padding == 1 ? 3 : 0);
  return size == 0 || (digits.find(text.back()) & unused) == 0;
}

constexpr bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

bool is_word(std::string_view text) {
  return text.find_first_of(" \t,;\"\\") == std::string_view::npos;
}

bool is_bearer_token(std::string_view text) {
  const std::size_t padding = text.find('=');
  return is_word(text) && (padding == std::string_view::npos ||
                           text.find_first_not_of('=', padding) == std::string_view::npos);
}

/// True if text begins with a name, "=", and a value.
bool begins_parameter(std::string_view text) {
  const std::size_t equals = text.find('=');
  return equals != std::string_view::npos && http::is_token(text.substr(0, equals)) &&
         text.find_first_not_of('=', equals) != std::string_view::npos;
}

/// The end of a quoted string that begins at `quote`; npos if it does not end.
std::size_t end_of_quoted(std::string_view text, std::size_t quote) {
  for (std::size_t at = quote + 1; at < text.size(); ++at) {
    if (text[at] == '"') return at;
    if (text[at] == '\\') ++at;
  }
  return std::string_view::npos;
}

bool is_parameter_list(std::string_view text) {
  for (;;) {
    if (!begins_parameter(text)) return false;
    std::size_t at = 0;
    while (at < text.size() && text[at] != ',') {
      if (http::is_white_space(text[at])) return false;
      if (text[at] == '"') at = end_of_quoted(text, at);
      if (at == std::string_view::npos) return false;
      ++at;
    }
    if (at == text.size()) return true;
    text = http::trimmed(text.substr(at + 1));
  }
}

/// True if Bearer and a blank appear in the text in any case: Laravel searches the whole value.
bool has_bearer(std::string_view text) {
  constexpr std::string_view scheme = "bearer";
  for (auto blank = text.find_first_of(" \t"); blank != std::string_view::npos;
       blank = text.find_first_of(" \t", blank + 1)) {
    if (blank >= scheme.size() &&
        http::iequals(text.substr(blank - scheme.size(), scheme.size()), scheme))
      return true;
  }
  return false;
}

/// A value without a blank has an empty rest.
struct Parts {
  std::string_view scheme;
  std::string_view rest;
};

Parts parts_of(std::string_view value) {
  const std::size_t end = std::min(value.find_first_of(" \t"), value.size());
  return {.scheme = value.substr(0, end), .rest = http::trimmed(value.substr(end))};
}

bool is_token_scheme(std::string_view scheme) {
  return http::iequals(scheme, "token");
}

constexpr std::string_view token_parameter = "token=";

/// The token in credentials of the scheme Token: `abc`, `token=abc` or `token="abc", nonce="1"`.
std::string_view token_in(std::string_view rest) {
  std::string_view token = rest.substr(0, rest.find(','));
  if (token.starts_with(token_parameter)) token.remove_prefix(token_parameter.size());
  if (token.size() >= 2 && token.starts_with('"') && token.ends_with('"'))
    token = token.substr(1, token.size() - 2);
  return token;
}

/// True if Rails, which splits at commas and semicolons and takes the last parameter of a name,
/// reads token_in().
bool has_clear_token(std::string_view rest) {
  if (!is_bearer_token(token_in(rest))) return false;
  const bool is_named = rest.starts_with(token_parameter);
  const std::size_t comma = rest.find(',');
  if (comma == std::string_view::npos) return is_named || is_word(rest);
  const std::string_view others = http::trimmed(rest.substr(comma + 1));
  return is_named && is_parameter_list(others) && others.find("token") == std::string_view::npos;
}

}  // namespace

std::string_view counted_credentials(std::string_view field_value) {
  const std::string_view value = http::trimmed(field_value);
  const auto [scheme, rest] = parts_of(value);
  if (rest.empty()) return value;
  return is_token_scheme(scheme) ? token_in(rest) : rest;
}

Credentials judge_credentials(std::string_view field_value) {
  using enum Credentials;
  const std::string_view value = http::trimmed(field_value);
  const auto [scheme, rest] = parts_of(value);
  if (http::iequals(scheme, "basic")) return is_canonical_base64(rest) ? clear : base64;
  if (!std::all_of(value.begin(), value.end(), is_ascii)) return words;
  if (rest.empty()) return clear;
  if (http::iequals(scheme, "bearer")) return is_bearer_token(rest) ? clear : words;
  if (is_token_scheme(scheme)) return has_clear_token(rest) ? clear : words;
  if (has_bearer(value)) return words;
  return is_word(rest) || is_parameter_list(rest) ? clear : words;
}

bool is_json_token(std::string_view token) {
  return token.starts_with('{') && token.ends_with('}') &&
         token.find_first_of("\t;=\\") == std::string_view::npos &&
         std::all_of(token.begin(), token.end(), is_ascii) && !has_bearer(token);
}

}  // namespace weir::identity
