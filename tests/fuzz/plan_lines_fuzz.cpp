// Files of plans: any text is parsed or refused with a line of it, no message shows an identity,
// and the table has a plan for every line.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "limiter/plan_lines.hpp"

namespace {

using namespace weir;

void require(bool holds) {
  if (!holds) std::abort();
}

void require_findings(const std::vector<limiter::PlanLines::Finding>& findings, std::size_t lines) {
  for (const auto& [line, message] : findings) {
    require(line >= 1 && line <= lines && !message.empty());
    require(std::ranges::all_of(message, [](char c) { return c >= ' ' && c < '\x7f'; }));
  }
}

/// The lines of a text that is correct: `identity TAB plan` only.
void require_found(std::string_view text, const limiter::PlanLineRules& rules,
                   const limiter::PlanTable& table) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t tab = line.find('\t');
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (tab == std::string_view::npos || first > tab || line[first] == '#') continue;
    const std::string_view value = line.substr(first, tab - first);
    if (value.starts_with("hash:") || value.starts_with("\xef\xbb\xbf")) continue;
    const std::size_t last = value.find_last_not_of(" \r");
    for (const Hash128& key : identity::keys_of(rules.identity.source, value.substr(0, last + 1),
                                                rules.values, rules.key))
      require(table.find(key).has_value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  limiter::Plans plans;
  plans.names = {"gold", "free", "with space", "a#b"};
  plans.index_names();
  const identity::Source header{identity::FromHeader{"x-api-key"}};
  const identity::Source query{identity::FromQuery{"key"}};
  const identity::Definition identities[] = {
      {.name = "header", .source = header},
      {.name = "credentials", .source = {identity::FromHeader{"authorization"}}},
      {.name = "client", .source = {identity::FromClientAddress{}}},
      {.name = "either", .source = {identity::AnyOf{{header, query}}}},
      {.name = "both", .source = {identity::AllOf{{header, query}}}},
  };
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  const identity::ClientAddressOptions client;
  for (const auto& identity : identities) {
    const limiter::PlanLineRules rules{.plans = plans,
                                       .identity = identity,
                                       .values = {.client = client},
                                       .key = {.k0 = 1, .k1 = 2}};
    const limiter::PlanLines read = parse_plan_lines(text, rules);
    require_findings(read.problems, lines);
    require_findings(read.unknown, lines);
    require(read.problems.size() + read.omitted <= 2 * lines);
    require(read.unknown.size() + read.unknown_omitted <= lines);
    require(read.table.size() <= 2 * lines);
    const bool accepts_values = identity::has_one_value(identity.source);
    if (read.problems.empty() && accepts_values) require_found(text, rules, read.table);
  }
  return 0;
}
