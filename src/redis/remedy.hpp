// What an operator can do about an error that Redis returned. Pure.
#pragma once

#include <string_view>

#include "store/error.hpp"

namespace weir::redis {

/// For the log. Empty for errors that Redis did not return, such as a timeout.
std::string_view remedy(store::Error error);

}  // namespace weir::redis
