#include "http/freshness.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "http/characters.hpp"

namespace weir::http {
namespace {

using std::chrono::seconds;

constexpr std::int64_t most_seconds = std::int64_t{1} << 31;

std::optional<std::int64_t> delta_seconds(std::string_view text) {
  if (text.empty() || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return most_seconds;
  return std::min(value, most_seconds);
}

/// Removes the text up to the next comma that is not within a quoted string, with that comma, and
/// returns it.
std::string_view take_directive(std::string_view& list) {
  bool is_quoted = false;
  std::size_t at = 0;
  for (; at < list.size() && (is_quoted || list[at] != ','); ++at) {
    if (is_quoted && list[at] == '\\') {
      ++at;
    } else if (list[at] == '"') {
      is_quoted = !is_quoted;
    }
  }
  const std::string_view directive = list.substr(0, at);
  list.remove_prefix(std::min(at + 1, list.size()));
  return directive;
}

/// The argument of `max-age`, as a token or quoted (RFC 9111 section 5.2); nothing for another
/// directive.
std::optional<std::int64_t> max_age(std::string_view directive) {
  constexpr std::string_view name = "max-age=";
  directive = trimmed(directive);
  if (!iequals(directive.substr(0, name.size()), name)) return std::nullopt;
  std::string_view value = directive.substr(name.size());
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
    value = value.substr(1, value.size() - 2);
  return delta_seconds(value);
}

}  // namespace

std::optional<seconds> fresh_for(std::span<const FieldView> fields) {
  std::optional<std::int64_t> lifetime;
  std::int64_t age = 0;
  for (const FieldView& field : fields) {
    if (field.id == FieldId::age) age = std::max(age, delta_seconds(field.value).value_or(0));
    if (field.id != FieldId::cache_control) continue;
    for (std::string_view list = field.value; !list.empty();) {
      const auto found = max_age(take_directive(list));
      if (found) lifetime = std::min(*found, lifetime.value_or(*found));
    }
  }
  if (!lifetime) return std::nullopt;
  return seconds(std::max<std::int64_t>(*lifetime - age, 0));
}

}  // namespace weir::http
