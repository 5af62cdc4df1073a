// The credentials of the Basic scheme (RFC 7617 section 2). Pure.
#pragma once

#include <string_view>

namespace weir::identity {

/// False for the value of an Authorization field of the scheme Basic whose credentials are not
/// canonical Base64: characters of RFC 4648 section 4 only, padded to a multiple of four, bits
/// after the last byte zero (section 3.5). Services decode many other spellings to the same value.
bool is_clear_if_basic(std::string_view field_value);

}  // namespace weir::identity
