// Values that are valid and probably mean something else: patterns where a text is compared, and
// variables of other programs in a text that is sent as it is. Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace weir::config {

bool looks_like_regex(std::string_view text);

/// Return a warning about the path pattern, or about the header value that a route compares; empty
/// if there is no doubt.
std::string pattern_doubt(std::string_view written);
std::string header_value_doubt(std::string_view written);

/// Returns the first variable of nginx (`$host`) or Envoy (`%REQ(x)%`), or `{name}`; empty if there
/// is none. `${NAME}` is a variable of the environment.
std::string_view foreign_variable_in(std::string_view written);

}  // namespace weir::config
