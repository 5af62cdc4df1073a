// The names of the error codes are those that nghttp2 has, too.
#include "http2/error_code.hpp"

#include <nghttp2/nghttp2.h>

#include "catch.hpp"

namespace weir::http2::test {

TEST_CASE("Each error code of RFC 9113 has its name") {
  for (std::uint32_t code = 0; code < error_code_count; ++code) {
    CAPTURE(code);
    CHECK(error_name(code) == nghttp2_http2_strerror(code));
  }
  CHECK(error_name(NGHTTP2_CANCEL) == "CANCEL");
  CHECK(error_name(NGHTTP2_HTTP_1_1_REQUIRED) == "HTTP_1_1_REQUIRED");
  CHECK(error_name(error_code_count) == "UNKNOWN");
  CHECK(error_name(0xffffffff) == "UNKNOWN");
}

}  // namespace weir::http2::test
