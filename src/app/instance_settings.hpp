// The settings that all instances with one Redis must have in common, as text for the others to
// compare. Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"

namespace weir::app {

/// A line "NAME TAB VALUE" for each setting that decides how clients are counted; NAME is its path
/// in the configuration. Secrets and numbers appear as digests only. With more than 200 policies
/// they have one line together.
std::string instance_settings(const config::Config& config);

/// The names that both texts have with different values. Without the numbers and the anchor of a
/// policy if its algorithm differs: then its state is in keys of its own.
std::vector<std::string> differing_settings(std::string_view mine, std::string_view theirs);

}  // namespace weir::app
