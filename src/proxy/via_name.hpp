// The name of this process in Via (RFC 9110 section 7.6.3).
#pragma once

#include <string_view>

namespace weir::proxy {

/// Unique, so a request that carries it has passed this process. Thread-safe.
std::string_view via_name();

}  // namespace weir::proxy
