// Reads a file of plans. The parser is limiter::parse_plan_lines().
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/secret_file.hpp"
#include "limiter/plan_lines.hpp"

namespace weir::config {

struct PlanFileContent {
  limiter::PlanTable table;
  std::vector<std::string> problems;  ///< none: the table is complete
  std::vector<std::string> warnings;  ///< plans that the configuration does not have
  bool is_unreadable = false;         ///< the text could not be read
  bool is_empty = false;              ///< no byte, not even a comment
};

/// The settings that the keys of identities written as values depend on.
identity::ValueSettings value_settings(const Config& config);

/// The rules for the lines of a file whose key is this identity.
limiter::PlanLineRules plan_line_rules(const Config& config, std::size_t identity);

/// `shown`: the path, or its text in the configuration if that has a variable.
PlanFileContent read_plan_file(const std::string& path, const std::string& shown,
                               const limiter::PlanLineRules& rules, Patience patience = for_ever);

}  // namespace weir::config
