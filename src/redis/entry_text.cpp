#include "redis/entry_text.hpp"

#include <charconv>

#include "base/text.hpp"
#include "redis/question_command.hpp"

namespace weir::redis {
namespace {

/// Takes the number before the next tab. Empty: there is none.
std::optional<std::int64_t> take_number(std::string_view& text) {
  const std::string_view digits = take_until(text, '\t');
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || value < 0) return {};
  return value;
}

}  // namespace

std::optional<rules::AttributedEntry> entry_in(std::string_view text) {
  const auto at = take_number(text);
  const auto units = take_number(text);
  const auto used = take_number(text);
  const auto start = take_number(text);
  if (!at || !units || !used || !start) return std::nullopt;
  rules::AttributedEntry entry{.at = instant_from_us(*at), .units = *units, .attributes = {}};
  while (true) {
    const auto tab = text.find('\t');
    entry.attributes.emplace_back(text.substr(0, tab));
    if (tab == std::string_view::npos) return entry;
    text.remove_prefix(tab + 1);
  }
}

std::string entries_key(std::string_view prefix, const Hash128& identity,
                        const std::string& policy) {
  std::string key;
  append_key(key, {.prefix = prefix, .policy_names = {&policy, 1}}, identity, 0,
             rules::Algorithm::attributed_window);
  return key;
}

}  // namespace weir::redis
