// Examples of the value of a key: of a section, and the fix for a list or a map in place of one
// text.
//
// Keys are named by their shape, see key_advice.hpp. Pure; thread-safe.
#pragma once

#include <string_view>

namespace weir::config {

/// A value for the key with this shape, such as `{certificate: tls.crt, private_key: tls.key}`;
/// empty if there is none.
std::string_view example_of(std::string_view shape);

/// Returns the fix for a list or a map where the key with this shape takes one text; begins with ";
/// ", or is empty.
std::string_view text_advice(std::string_view shape);

}  // namespace weir::config
