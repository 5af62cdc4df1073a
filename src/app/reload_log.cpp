#include "app/reload_log.hpp"

#include <cstddef>
#include <string_view>
#include <utility>

#include "app/log.hpp"

namespace weir::app {

std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3)
    text.insert(at - 3, 1, ',');
  return text;
}

std::string listed(const std::vector<std::string>& keys, std::size_t omitted) {
  std::string text;
  for (const auto& key : keys)
    text.append(text.empty() ? "" : ", ").append(key);
  if (omitted > 0) text.append(" and ").append(with_commas(omitted)).append(" more");
  return text;
}

void log_problems(const std::string& origin, const std::string& file,
                  const std::vector<config::Diagnostic>& problems) {
  const std::string_view divider = origin.empty() ? "" : ": ";
  for (const auto& problem : problems) {
    log_error({origin, divider, file, ":", problem.line > 0 ? "" : " ", problem.to_string()});
  }
}

void log_rejected(const std::string& origin, const std::string& file,
                  const std::vector<config::Diagnostic>& problems) {
  log_problems(origin, file, problems);
  log_error({origin, ": the configuration was not reloaded; the running one stays as it is"});
}

void log_warnings(const std::string& origin, const std::string& file,
                  const std::vector<config::Diagnostic>& warnings) {
  for (const auto& warning : warnings)
    log_warning({origin, ": ", file, ":", warning.to_string()});
}

admin::ReloadReport rejected_report(const std::string& file,
                                    std::vector<config::Diagnostic> problems) {
  admin::ReloadReport report{.outcome = admin::ReloadReport::Outcome::rejected, .file = file};
  for (auto& problem : problems) {
    report.problems.push_back({.line = problem.line,
                               .column = problem.column,
                               .path = std::move(problem.key_path),
                               .message = std::move(problem.message)});
  }
  return report;
}

void log_applied(const std::string& origin, const admin::ReloadReport& report) {
  if (!report.restart_needed.empty())
    log_warning({origin, ": keeps its value until a restart: ", listed(report.restart_needed, 0)});
  log_info({origin, ": configuration reloaded; ",
            report.changed.empty() ? "nothing has changed"
                                   : "changed: " + listed(report.changed, report.changed_omitted)});
}

}  // namespace weir::app
