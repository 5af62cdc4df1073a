#include "config/plan_file.hpp"

#include <utility>

#include "config/suggest.hpp"

namespace weir::config {
namespace {

constexpr std::size_t largest_plan_file = 256 * 1024 * 1024;

std::vector<std::string> described(const std::vector<limiter::PlanLines::Finding>& findings,
                                   std::size_t omitted, const std::string& shown) {
  std::vector<std::string> texts;
  const std::string file = "file " + in_quotes(shown);
  for (const auto& [line, message] : findings)
    texts.push_back(file + " line " + std::to_string(line) + ": " + message);
  if (omitted > 0) texts.push_back(file + ": and " + std::to_string(omitted) + " more lines");
  return texts;
}

}  // namespace

identity::ValueSettings value_settings(const Config& config) {
  return {.client = config.client_address,
          .path_ignores_case = config.path_variants.letter_case,
          .path_ignores_trailing_slash = config.path_variants.trailing_slash};
}

limiter::PlanLineRules plan_line_rules(const Config& config, std::size_t identity) {
  return {.plans = config.plans,
          .identity = config.identities[identity],
          .values = value_settings(config),
          .key = config.identity_key};
}

PlanFileContent read_plan_file(const std::string& path, const std::string& shown,
                               const limiter::PlanLineRules& rules, Patience patience) {
  const Result<std::string> text = read_bounded_file(path, largest_plan_file, patience);
  if (!text) {
    return {.table = {},
            .problems = {with_shown_path(text.error().message, path, shown)},
            .warnings = {},
            .is_unreadable = true};
  }
  limiter::PlanLines lines = limiter::parse_plan_lines(*text, rules);
  return {.table = std::move(lines.table),
          .problems = described(lines.problems, lines.omitted, shown),
          .warnings = described(lines.unknown, lines.unknown_omitted, shown),
          .is_empty = text->empty()};
}

}  // namespace weir::config
