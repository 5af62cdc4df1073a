#include "app/reload_log.hpp"

#include <cstddef>
#include <spdlog/spdlog.h>
#include <string_view>

namespace weir::app {
namespace {

/// 9,980
std::string with_commas(std::size_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3)
    text.insert(at - 3, 1, ',');
  return text;
}

}  // namespace

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
    spdlog::error("{}{}{}:{}{}", origin, divider, file, problem.line > 0 ? "" : " ",
                  problem.to_string());
  }
}

void log_rejected(const std::string& origin, const std::string& file,
                  const std::vector<config::Diagnostic>& problems) {
  log_problems(origin, file, problems);
  spdlog::error("{}: the configuration was not reloaded; the running one stays as it is", origin);
}

void log_applied(const std::string& origin, const admin::ReloadReport& report) {
  if (!report.restart_needed.empty())
    spdlog::warn("{}: keeps its value until a restart: {}", origin,
                 listed(report.restart_needed, 0));
  spdlog::info("{}: configuration reloaded; {}", origin,
               report.changed.empty()
                   ? "nothing has changed"
                   : "changed: " + listed(report.changed, report.changed_omitted));
}

}  // namespace weir::app
