// SHA-256 and SHA-1 (FIPS 180-4), in the format of `sha256sum` and `sha1sum`. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace weir::tls {

/// Returns 64 hexadecimal digits.
std::string sha256_hex(std::string_view data);

/// Returns 40 hexadecimal digits, like `redis.sha1hex`. Detects damage, not forgery.
std::string sha1_hex(std::string_view data);

}  // namespace weir::tls
