// Remedies for the errors that Redis returns, for operators. Pure.
#pragma once

#include <string_view>

#include "store/error.hpp"

namespace weir::redis {

/// A clause for the log. Empty for errors that Redis did not return, such as a timeout.
std::string_view remedy(store::Error error);

}  // namespace weir::redis
