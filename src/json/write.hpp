// Writes text as JSON strings (RFC 8259 section 7).
#pragma once

#include <string>
#include <string_view>

#include "base/appender.hpp"

namespace weir::json {

/// Appends `text` as a JSON string with its quotes; invalid UTF-8 becomes U+FFFD. Characters that a
/// terminal or a line reader may interpret are escaped as well: C1 controls, U+2028 and U+2029.
void append_string(Appender& out, std::string_view text);
void append_string(std::string& out, std::string_view text);

/// The same without the quotes.
void append_escaped(Appender& out, std::string_view text);

}  // namespace weir::json
