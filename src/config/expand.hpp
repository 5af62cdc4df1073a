// ${NAME} and ${NAME:-default} inside a scalar value.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace weir::config {

using Variables = std::function<std::optional<std::string>(const std::string& name)>;

/// Replaces every reference once; what a variable holds is not looked at again. The default is
/// taken when the variable is unset or empty, as in a shell. `$${` is a literal `${`; any other `$`
/// is itself. The problem names the variable and never its content.
Result<std::string> expand_variables(std::string_view text, const Variables& variables);

/// True if there is a reference in `text`; `$${` is none.
bool holds_variable(std::string_view text);

}  // namespace weir::config
