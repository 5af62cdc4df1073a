#include "base/endpoint.hpp"

#include <utility>

#include "catch.hpp"

namespace weir {

TEST_CASE("an endpoint is written as in the configuration") {
  const auto written = [](std::string host, std::uint16_t port) {
    return Endpoint{.host = std::move(host), .port = port, .unix_path = {}}.to_string();
  };
  CHECK(written("example.com", 80) == "example.com:80");
  CHECK(written("192.0.2.1", 0) == "192.0.2.1:0");
  CHECK(written("2001:db8::1", 65535) == "[2001:db8::1]:65535");
  CHECK(Endpoint{.host = {}, .unix_path = "/run/a b.sock"}.to_string() == "unix:/run/a b.sock");
}

}  // namespace weir
