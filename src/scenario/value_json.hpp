// Values of a scenario as JSON: bodies and claims that are written as YAML.
#pragma once

#include <string>

#include "config/cursor.hpp"

namespace weir::scenario {

/// Appends the value. A scalar without quotes that JSON reads as a number, true, false or null is
/// that; others are texts. Problems are reported at their place.
void append_json(std::string& out, const config::Cursor& in);

}  // namespace weir::scenario
