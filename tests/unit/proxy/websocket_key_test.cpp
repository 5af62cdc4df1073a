// The key of a WebSocket handshake, and its acceptance.
#include "proxy/websocket_key.hpp"

#include "catch.hpp"

namespace weir::proxy::test {

TEST_CASE("A key has 16 bytes in base64") {
  CHECK(websocket_key(0, 0) == "AAAAAAAAAAAAAAAAAAAAAA==");
  CHECK(websocket_key(1, 0) != websocket_key(0, 1));
}

TEST_CASE("A response accepts a key by its digest") {
  // The example of RFC 6455 section 1.3.
  const std::string key = "dGhlIHNhbXBsZSBub25jZQ==";
  const auto accepts = [&key](std::string_view name, std::string_view value) {
    const std::vector<http::FieldView> fields{{.name = "Upgrade", .value = "websocket"},
                                              {.name = name, .value = value}};
    return accepts_key(fields, key);
  };
  CHECK(accepts("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
  CHECK(accepts("sec-websocket-accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
  CHECK_FALSE(accepts("Sec-WebSocket-Accept", "S3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
  CHECK_FALSE(accepts("Sec-WebSocket-Accept", ""));
  CHECK_FALSE(accepts("X", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
}

}  // namespace weir::proxy::test
