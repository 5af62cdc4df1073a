// Replaces ${NAME} and ${NAME:-default} in a scalar value.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace weir::config {

using Variables = std::function<std::optional<std::string>(const std::string& name)>;

/// Replaces every reference once; references in the content of a variable are not replaced. The
/// default is used if the variable is unset or empty, as in a shell. `$${` is a literal `${`; any
/// other `$` is itself. Problems contain the name of the variable and never its content.
Result<std::string> expand_variables(std::string_view text, const Variables& variables);

/// True if `text` has a reference; `$${` is not one.
bool holds_variable(std::string_view text);

}  // namespace weir::config
