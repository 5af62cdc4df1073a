#include "identity/node.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/text.hpp"
#include "http/characters.hpp"
#include "http/request_view.hpp"

namespace weir::identity {
namespace {

constexpr auto npos = std::string_view::npos;

/// node-port of RFC 7239 section 6: digits, or "_" and an obfuscated name.
bool is_port(std::string_view text) {
  if (text.starts_with('_')) {
    return text.size() > 1 && std::all_of(text.begin() + 1, text.end(), http::is_token_character);
  }
  return parse_number<std::uint16_t>(text).has_value();
}

std::optional<IpAddress> parse_bracketed(std::string_view text) {
  const auto close = text.find(']');
  if (close == npos) return std::nullopt;
  const auto inside = text.substr(1, close - 1);
  const auto rest = text.substr(close + 1);
  const bool rest_is_port = rest.starts_with(':') && is_port(rest.substr(1));
  if (inside.find(':') == npos || !(rest.empty() || rest_is_port)) return std::nullopt;
  return IpAddress::parse(inside);
}

std::string_view take_after(std::string_view& list, std::size_t comma) {
  const auto element = http::trimmed(list.substr(comma == npos ? 0 : comma + 1));
  list = list.substr(0, comma == npos ? 0 : comma);
  return element;
}

bool is_escaped(std::string_view text, std::size_t at) {
  const auto before = text.substr(0, at);
  const auto plain = before.find_last_not_of('\\');
  return (plain == npos ? before.size() : before.size() - plain - 1) % 2 != 0;
}

/// The value of a parameter: a quoted string without quotes and escapes, or the text up to the next
/// ';'.
struct Value {
  std::array<char, 64> storage;  ///< no address is longer
  std::string_view text;
};

/// Removes a quoted string from the start of `rest`; returns false if it is not closed or too long
/// for a node.
bool take_quoted(std::string_view& rest, Value& value) {
  std::size_t size = 0;
  for (std::size_t at = 1; at < rest.size(); ++at) {
    if (rest[at] == '"') {
      value.text = {value.storage.data(), std::min(size, value.storage.size())};
      rest.remove_prefix(at + 1);
      return size <= value.storage.size();
    }
    if (rest[at] == '\\' && ++at == rest.size()) return false;
    if (size < value.storage.size()) value.storage[size] = rest[at];
    ++size;
  }
  return false;
}

bool take_value(std::string_view& rest, Value& value) {
  if (rest.starts_with('"')) return take_quoted(rest, value);
  value.text = rest.substr(0, rest.find_first_of("; \t\""));
  rest.remove_prefix(value.text.size());
  return !value.text.empty();
}

std::string_view after_separators(std::string_view pairs) {
  return pairs.substr(std::min(pairs.find_first_not_of("; \t"), pairs.size()));
}

}  // namespace

std::optional<IpAddress> parse_node(std::string_view text) {
  if (text.starts_with('[')) return parse_bracketed(text);
  const auto colon = text.find(':');
  if (colon == npos || text.find(':', colon + 1) != npos) return IpAddress::parse(text);
  if (!is_port(text.substr(colon + 1))) return std::nullopt;
  return IpAddress::parse(text.substr(0, colon));
}

std::string_view take_last_element(std::string_view& list) {
  return take_after(list, list.rfind(','));
}

std::string_view take_last_forwarded_element(std::string_view& list) {
  bool quoted = false;
  for (std::size_t at = list.size(); at-- > 0;) {
    if (list[at] == '"' && !(quoted && is_escaped(list, at))) quoted = !quoted;
    if (list[at] == ',' && !quoted) return take_after(list, at);
  }
  return take_after(list, npos);
}

std::optional<IpAddress> forwarded_for(std::string_view element) {
  std::optional<IpAddress> found;
  bool seen = false;
  for (std::string_view rest = after_separators(element); !rest.empty();) {
    const auto equals = rest.find('=');
    if (equals == npos || !http::is_token(rest.substr(0, equals))) return std::nullopt;
    const bool is_for = http::iequals(rest.substr(0, equals), "for");
    rest.remove_prefix(equals + 1);
    Value value;
    if (!take_value(rest, value) || (is_for && seen)) return std::nullopt;
    if (is_for) {
      seen = true;
      found = parse_node(value.text);
    }
    rest = http::trimmed(rest);
    if (!rest.empty() && rest.front() != ';') return std::nullopt;
    rest = after_separators(rest);
  }
  return found;
}

}  // namespace weir::identity
