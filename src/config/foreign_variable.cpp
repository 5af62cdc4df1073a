#include "config/foreign_variable.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "http/characters.hpp"

namespace weir::config {
namespace {

constexpr auto npos = std::string_view::npos;

/// The start of variables of nginx, which are recognised next to any character.
constexpr std::array<std::string_view, 20> nginx_names{
    "arg_",      "args",   "binary_remote_addr", "body_bytes_sent", "connection", "cookie",
    "document",  "host",   "hostname",           "http_",           "proxy_",     "remote_",
    "request",   "scheme", "sent_http_",         "server",          "ssl_",       "time_",
    "upstream_", "uri"};

struct Forwarded {
  std::string_view part;  ///< of the variable, in lower case
  std::string_view field;
};

/// The first row that fits counts.
constexpr std::array<Forwarded, 16> forwarded_fields{{
    {"upstream", {}},
    {"server", {}},
    {"hostname", {}},
    {"proxy_host", {}},
    {"port", {}},
    {"remote_user", {}},
    {"protocol", {}},
    {"remote", "X-Forwarded-For"},
    {"client_ip", "X-Forwarded-For"},
    {"forwarded_for", "X-Forwarded-For"},
    {"forwarded-for", "X-Forwarded-For"},
    {"[src]", "X-Forwarded-For"},
    {"host", "X-Forwarded-Host"},
    {"authority", "X-Forwarded-Host"},
    {"scheme", "X-Forwarded-Proto"},
    {"proto", "X-Forwarded-Proto"},
}};

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_word(char c) {
  return http::is_alpha(c) || http::is_digit(c) || c == '_';
}
bool is_hex(char c) {
  return http::is_digit(c) || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
}

template <class Predicate>
std::string_view prefix_of(std::string_view text, Predicate is_part) {
  const auto* const end = std::ranges::find_if_not(text, is_part);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

bool is_of_nginx(std::string_view name) {
  return std::ranges::any_of(nginx_names, [name](std::string_view start) {
    return start.ends_with('_') ? name.starts_with(start)
                                : name == start || name.starts_with(std::string(start) + '_');
  });
}

/// `$name` and `$1`. Names that are not nginx's own stand alone, in letters of one case.
std::size_t length_after_dollar(std::string_view text, char before) {
  const std::string_view name = prefix_of(text.substr(1), is_word);
  if (name.empty()) return 0;
  const std::size_t length = name.size() + 1;
  if (is_of_nginx(name)) return length;
  if (http::is_digit(name.front())) return name.size() == 1 && before == '/' ? length : 0;
  const bool has_upper = std::ranges::any_of(name, is_upper);
  const bool has_lower =
      std::ranges::any_of(name, [](char c) { return http::is_alpha(c) && !is_upper(c); });
  const bool is_apart = before == '\0' || std::string_view(" /:=?&,;.@").find(before) != npos;
  return is_apart && name.size() > 1 && has_upper != has_lower ? length : 0;
}

/// `{name}`, `{http.request.host}` and `{{ any }}`. JSON has quotes or blanks after its brace.
std::size_t length_after_brace(std::string_view text, char before) {
  if (before == '$') return 0;
  if (text.starts_with("{{")) {
    const std::size_t end = text.find("}}");
    return end == npos || end == 2 ? 0 : end + 2;
  }
  const std::string_view name =
      prefix_of(text.substr(1), [](char c) { return is_word(c) || c == '.' || c == '-'; });
  const std::size_t end = name.size() + 1;
  const bool is_name = !name.empty() && !http::is_digit(name.front()) && end < text.size();
  return is_name && text[end] == '}' ? end + 1 : 0;
}

/// `%NAME%`, `%NAME(x)%`, `%NAME(x):10%` and `%[src]`. After the second sign of `%ABC%20` are two
/// digits, so that is an encoded text.
std::size_t length_after_percent(std::string_view text) {
  if (text.starts_with("%[")) {
    const std::size_t end = text.find(']');
    return end == npos || end == 2 ? 0 : end + 1;
  }
  const std::string_view name = prefix_of(
      text.substr(1), [](char c) { return is_upper(c) || http::is_digit(c) || c == '_'; });
  if (name.size() < 3 || !is_upper(name.front())) return 0;
  std::size_t at = name.size() + 1;
  if (at < text.size() && text[at] == '(') {
    at = text.find(')', at);
    if (at == npos) return 0;
    ++at;
  }
  if (at < text.size() && text[at] == ':')
    at += 1 + prefix_of(text.substr(at + 1), http::is_digit).size();
  if (at >= text.size() || text[at] != '%') return 0;
  const std::string_view rest = text.substr(at + 1);
  return rest.size() >= 2 && is_hex(rest[0]) && is_hex(rest[1]) ? 0 : at + 1;
}

}  // namespace

std::string_view foreign_variable_in(std::string_view written) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    const std::string_view text = written.substr(i);
    const char before = i == 0 ? '\0' : written[i - 1];
    std::size_t length = 0;
    if (text.front() == '$') length = length_after_dollar(text, before);
    if (text.front() == '{') length = length_after_brace(text, before);
    if (text.front() == '%') length = length_after_percent(text);
    if (length != 0) return text.substr(0, length);
  }
  return {};
}

std::string_view forwarded_field_for(std::string_view variable) {
  std::string lower(variable);
  std::ranges::transform(lower, lower.begin(), http::to_lower);
  const auto found = std::ranges::find_if(
      forwarded_fields, [&](const Forwarded& one) { return lower.find(one.part) != npos; });
  return found == forwarded_fields.end() ? std::string_view() : found->field;
}

}  // namespace weir::config
