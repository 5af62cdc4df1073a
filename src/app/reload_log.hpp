// The log lines of a reload. Their number and length are bounded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "admin/reload_report.hpp"
#include "config/diagnostic.hpp"

namespace weir::app {

/// `9,980`.
std::string with_commas(std::uint64_t number);

/// "a, b and 9,980 more": keys in their order, at most `most`; `omitted` are not in `keys`.
std::string listed(const std::vector<std::string>& keys, std::size_t omitted);

/// One line for each problem of `file`; `origin`: what requested the load, empty at the start.
void log_problems(const std::string& origin, const std::string& file,
                  const std::vector<config::Diagnostic>& problems);
void log_rejected(const std::string& origin, const std::string& file,
                  const std::vector<config::Diagnostic>& problems);
/// Warnings about a configuration that was loaded.
void log_warnings(const std::string& origin, const std::string& file,
                  const std::vector<config::Diagnostic>& warnings);
/// The same problems, for the request that asked for the reload.
admin::ReloadReport rejected_report(const std::string& file,
                                    std::vector<config::Diagnostic> problems);
void log_applied(const std::string& origin, const admin::ReloadReport& report);

}  // namespace weir::app
