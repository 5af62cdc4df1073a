#include "config/endpoint.hpp"

#include "catch.hpp"

namespace weir::config {
namespace {

TEST_CASE("addresses to listen on") {
  struct Case {
    std::string_view text, host;
    std::uint16_t port;
  };
  const Case cases[] = {
      {"0.0.0.0:8080", "0.0.0.0", 8080},
      {"[::]:8080", "::", 8080},
      {"[2001:db8::1]:65535", "2001:db8::1", 65'535},
      {"localhost:0", "localhost", 0},
      {"weir.example.com:80", "weir.example.com", 80},
  };
  for (const auto& [text, host, port] : cases) {
    CAPTURE(text);
    const auto endpoint = parse_endpoint(text);
    REQUIRE(endpoint.has_value());
    CHECK(endpoint->host == host);
    CHECK(endpoint->port == port);
    CHECK_FALSE(endpoint->is_unix());
    CHECK(endpoint->to_string() == text);
  }
}

TEST_CASE("a unix socket has a path that fits its address") {
  const auto endpoint = parse_endpoint("unix:/run/weir.sock");
  REQUIRE(endpoint.has_value());
  CHECK(endpoint->unix_path == "/run/weir.sock");
  CHECK(endpoint->to_string() == "unix:/run/weir.sock");
  CHECK(parse_endpoint("unix:/" + std::string(106, 'x')));
  CHECK_FALSE(parse_endpoint("unix:/" + std::string(107, 'x')));
}

TEST_CASE("texts that are not addresses") {
  for (const std::string_view text :
       {"",           "8080",        ":8080",        "localhost",
        "localhost:", "localhost:x", "localhost:-1", "localhost:65536",
        "::1:80",     "[::1]",       "[::1]80",      "[127.0.0.1]:80",
        "[::g]:80",   "1.2.3:80",    "1.2.3.256:80", "-a:80",
        "a..b:80",    "a b:80",      "http://a:80",  "unix:",
        "unix:run/x", "unix:/",      "a:80 "}) {
    CAPTURE(text);
    CHECK_FALSE(parse_endpoint(text));
  }
}

TEST_CASE("addresses that cannot both be listened on") {
  struct Case {
    std::string_view one, other;
    bool expected;
  };
  const Case cases[] = {
      {"127.0.0.1:80", "127.0.0.1:80", true},
      {"127.0.0.1:80", "127.0.0.1:81", false},
      {"127.0.0.1:80", "127.0.0.2:80", false},
      {"127.0.0.1:0", "127.0.0.1:0", false},
      {"0.0.0.0:80", "127.0.0.1:80", true},
      {"0.0.0.0:80", "127.0.0.1:81", false},
      {"[::]:80", "[2001:db8::1]:80", true},
      {"[2001:db8::1]:80", "[2001:DB8:0::1]:80", true},
      {"0.0.0.0:80", "[::1]:80", false},
      {"[::]:80", "127.0.0.1:80", true},
      {"[::]:80", "0.0.0.0:80", true},
      {"localhost:80", "localhost:80", true},
      {"localhost:80", "weir.test:80", false},
      {"localhost:80", "127.0.0.1:80", false},
      {"unix:/run/weir", "unix:/run/weir", true},
      {"unix:/run/weir", "unix:/run/admin", false},
      {"unix:/run/weir", "0.0.0.0:80", false},
  };
  for (const auto& [one, other, expected] : cases) {
    CAPTURE(one, other);
    CHECK(overlap(*parse_endpoint(one), *parse_endpoint(other)) == expected);
    CHECK(overlap(*parse_endpoint(other), *parse_endpoint(one)) == expected);
  }
}

}  // namespace
}  // namespace weir::config
