#include "cli/override_options.hpp"

#include <utility>

#include "base/rfc3339.hpp"
#include "config/values.hpp"

namespace weir::cli {
namespace {

using Given = std::vector<std::pair<std::string, bool>>;

/// The names of the options that were given: `--rate, --deny`.
std::string listed(const Given& options) {
  std::string text;
  for (const auto& [name, is_given] : options) {
    if (!is_given) continue;
    text.append(text.empty() ? "" : ", ").append(name);
  }
  return text;
}

Given numbers_in(const OverrideOptions& options) {
  return {{"--rate", options.rate.has_value()},
          {"--rates", !options.rates.empty()},
          {"--burst", options.burst.has_value()},
          {"--limit", options.limit.has_value()},
          {"--queue", options.queue.has_value()}};
}

Given kinds_in(const OverrideOptions& options) {
  Given kinds = numbers_in(options);
  kinds.insert(kinds.end(), {{"--plan", !options.plan.empty()},
                             {"--unlimited", options.is_unlimited},
                             {"--deny", options.denies}});
  return kinds;
}

std::string wrong_removal(const OverrideOptions& options) {
  Given others = kinds_in(options);
  others.insert(others.end(),
                {{"--until", !options.until.empty()}, {"--note", options.note.has_value()}});
  const std::string written = listed(others);
  return written.empty() ? written
                         : "--delete and " + written +
                               " exclude each other: an override is either deleted or put";
}

std::string wrong_kind(const OverrideOptions& options) {
  const std::string numbers = listed(numbers_in(options));
  const int kinds = (numbers.empty() ? 0 : 1) + (options.plan.empty() ? 0 : 1) +
                    (options.is_unlimited ? 1 : 0) + (options.denies ? 1 : 0);
  const std::string one_of =
      "numbers (--rate, --rates, --burst, --limit, --queue), --plan, --unlimited, --deny, --delete";
  if (kinds == 0) return "nothing to do: give one of " + one_of;
  if (kinds > 1) return listed(kinds_in(options)) + " exclude each other: give one of " + one_of;
  if (!numbers.empty() && options.policy.empty())
    return "--policy is missing: " + numbers + " needs the policy whose numbers it replaces";
  if (options.rate && !options.rates.empty())
    return "--rate and --rates exclude each other; keep one";
  return {};
}

std::string wrong_value(const OverrideOptions& options) {
  if (options.rate) {
    if (const auto rate = config::parse_rate(*options.rate); !rate)
      return "--rate: " + rate.error().message;
  }
  for (const std::string& one : options.rates) {
    if (const auto rate = config::parse_rate(one); !rate) return "--rates: " + rate.error().message;
  }
  if (!options.until.empty() && !parse_rfc3339(options.until))
    return "--until: expected a time such as 2026-12-01T00:00:00Z (RFC 3339)";
  return {};
}

}  // namespace

std::string wrong_usage_of(const OverrideOptions& options) {
  if (options.removes) return wrong_removal(options);
  std::string problem = wrong_kind(options);
  return problem.empty() ? wrong_value(options) : problem;
}

}  // namespace weir::cli
