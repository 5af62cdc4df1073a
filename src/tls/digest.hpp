// SHA-256 (FIPS 180-4), as `sha256sum` prints it. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace weir::tls {

/// 64 hexadecimal digits.
std::string sha256_hex(std::string_view data);

}  // namespace weir::tls
