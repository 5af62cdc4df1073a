// The error codes of HTTP/2 (RFC 9113 section 7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::http2 {

/// Those that Weir sends.
enum class ErrorCode : std::uint32_t {
  none = 0,
  protocol_error = 1,
  internal_error = 2,
  cancel = 8,
  enhance_your_calm = 11,
};

/// The codes that RFC 9113 defines are those below it.
constexpr std::size_t error_code_count = 14;

/// Returns the name of an error code, such as CANCEL; UNKNOWN for one that RFC 9113 does not
/// define.
std::string_view error_name(std::uint32_t code);

}  // namespace weir::http2
