#include "base/endpoint.hpp"

#include "catch.hpp"

namespace weir {

TEST_CASE("an endpoint is written as in the configuration") {
  CHECK(Endpoint{.host = "example.com", .port = 80}.to_string() == "example.com:80");
  CHECK(Endpoint{.host = "192.0.2.1"}.to_string() == "192.0.2.1:0");
  CHECK(Endpoint{.host = "2001:db8::1", .port = 65535}.to_string() == "[2001:db8::1]:65535");
  CHECK(Endpoint{.unix_path = "/run/a b.sock"}.to_string() == "unix:/run/a b.sock");
}

}  // namespace weir
