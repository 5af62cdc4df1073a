#include "app/shadow_request.hpp"

#include <string>

#include "app/query_parameters.hpp"
#include "base/text.hpp"
#include "config/suggest.hpp"
#include "config/values.hpp"

namespace weir::app {
namespace {

constexpr std::size_t most_decimals = 4;
constexpr std::int64_t one_percent = 10'000;

bool are_digits(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

Problem named(std::string_view parameter, const Problem& problem) {
  return {std::string(parameter) + ": " + problem.message};
}

}  // namespace

Result<Duration> parse_shadow_period(std::string_view text) {
  const auto period = config::parse_duration(text);
  if (period && *period >= shortest_shadow && *period <= longest_shadow) return *period;
  return Problem{"expected a duration from " + config::format_duration(shortest_shadow) + " to " +
                 config::format_duration(longest_shadow) + ", such as 10m, not " +
                 config::in_quotes(text)};
}

Result<std::int64_t> parse_percentage(std::string_view text) {
  const Problem problem{
      "expected a percentage from 0% to 100% with at most four decimals, such as "
      "0.5%, not " +
      config::in_quotes(text)};
  if (text.ends_with('%')) text.remove_suffix(1);
  const bool has_point = text.find('.') != std::string_view::npos;
  const std::string_view whole = take_until(text, '.');
  const auto percent = parse_number<std::int64_t>(whole);
  if (!percent || !are_digits(whole) || *percent > 100) return problem;
  if (has_point && (text.empty() || text.size() > most_decimals || !are_digits(text)))
    return problem;
  std::string decimals(text);
  decimals.resize(most_decimals, '0');
  const std::int64_t share =
      *percent * one_percent + parse_number<std::int64_t>(decimals).value_or(0);
  if (share > 100 * one_percent) return problem;
  return share;
}

Result<std::optional<ShadowTerms>> read_reload_query(std::string_view query) {
  const auto given = read_parameters(query, reload_parameters);
  if (!given) return given.error();
  const auto shadow = given->find("shadow");
  const auto max_flips = given->find("max_flips");
  if (shadow == given->end()) {
    if (max_flips == given->end()) return std::optional<ShadowTerms>();
    return Problem{"max_flips needs shadow: add the time to decide in shadow, such as shadow=10m"};
  }
  ShadowTerms terms;
  const auto period = parse_shadow_period(shadow->second);
  if (!period) return named("shadow", period.error());
  terms.period = *period;
  if (max_flips != given->end()) {
    const auto share = parse_percentage(max_flips->second);
    if (!share) return named("max_flips", share.error());
    terms.max_flips = *share;
  }
  return std::optional(terms);
}

}  // namespace weir::app
