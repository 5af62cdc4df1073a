#include "http2/error_code.hpp"

#include <array>

namespace weir::http2 {
namespace {

// In the order of the codes.
constexpr std::array<std::string_view, error_code_count> error_names{
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
};

}  // namespace

std::string_view error_name(std::uint32_t code) {
  return code < error_names.size() ? error_names[code] : "UNKNOWN";
}

}  // namespace weir::http2
