// Errors of Redis, as the store reports them, and what can be done about them.
#pragma once

#include <string_view>

#include "store/error.hpp"

namespace weir::redis {

using StoreError = store::Error;
inline constexpr std::size_t store_error_count = store::error_count;

/// For the log: what an operator can do about an error that Redis returned; empty for the others.
std::string_view remedy(StoreError error);

}  // namespace weir::redis
