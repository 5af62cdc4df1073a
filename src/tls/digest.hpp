// SHA-256 (FIPS 180-4), in the format of `sha256sum`. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace weir::tls {

/// 64 hexadecimal digits.
std::string sha256_hex(std::string_view data);

}  // namespace weir::tls
