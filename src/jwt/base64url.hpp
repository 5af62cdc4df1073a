// base64url without padding (RFC 4648 section 5, RFC 7515 section 2). Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir::jwt {

/// Returns the bytes, or nothing if the text is not the only encoding of them: with padding, white
/// space, a character of another alphabet, an impossible length, or unused bits that are not zero.
std::optional<std::string> decode_base64url(std::string_view text);

}  // namespace weir::jwt
