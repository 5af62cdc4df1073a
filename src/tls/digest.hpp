// SHA-256 and SHA-1 (FIPS 180-4), in the format of `sha256sum` and `sha1sum` or as bytes, and
// base64 (RFC 4648 section 4). Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace weir::tls {

/// Returns 64 hexadecimal digits.
std::string sha256_hex(std::string_view data);

/// Returns 40 hexadecimal digits, like `redis.sha1hex`. Detects damage, not forgery.
std::string sha1_hex(std::string_view data);
/// Returns 20 bytes.
std::string sha1(std::string_view data);

/// Returns the bytes in base64, with padding.
std::string base64(std::string_view data);

}  // namespace weir::tls
