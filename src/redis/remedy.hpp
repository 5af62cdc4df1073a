// Remedies for the errors that Redis returns, for operators. Pure.
#pragma once

#include <string_view>

#include "store/error.hpp"

namespace weir::redis {

/// A clause for the log. Empty for errors that Redis did not return, such as a timeout.
std::string_view remedy(store::Error error);

/// A clause for a connection that Redis refuses: `error` is the step and the reply, such as
/// `AUTH: WRONGPASS invalid password`.
std::string_view refusal_remedy(std::string_view error);

}  // namespace weir::redis
