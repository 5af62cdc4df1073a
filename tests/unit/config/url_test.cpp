#include "config/url.hpp"

#include <string_view>
#include <utility>

#include "catch.hpp"

namespace weir::config {
namespace {

TEST_CASE("a URL has a scheme, a user, an authority and a rest") {
  struct Case {
    std::string_view url, scheme, user_info, authority, rest;
  };
  const Case cases[] = {{"http://a", "http", "", "a", ""},
                        {"http://a:1/b?c#d", "http", "", "a:1", "/b?c#d"},
                        {"http://a?b", "http", "", "a", "?b"},
                        {"http://a#b", "http", "", "a", "#b"},
                        {"unix:///run/x", "unix", "", "", "/run/x"},
                        {"redis://:p@a", "redis", ":p", "a", ""},
                        {"redis://u:p@q@[::1]:1/0", "redis", "u:p@q", "[::1]:1", "/0"},
                        {"http://a/b@c://d", "http", "", "a", "/b@c://d"},
                        {"://", "", "", "", ""}};
  for (const auto& [text, scheme, user_info, authority, rest] : cases) {
    CAPTURE(text);
    const auto url = split_url(text);
    REQUIRE(url.has_value());
    CHECK(url->scheme == scheme);
    CHECK(url->user_info.value_or("") == user_info);
    CHECK(url->authority == authority);
    CHECK(url->rest == rest);
  }
  CHECK(split_url("http://@a")->user_info.has_value());
  CHECK_FALSE(split_url("http://a")->user_info.has_value());
  for (const std::string_view text : {"", "a", "a:1", "http:/a", "unix:/run/x"}) {
    CAPTURE(text);
    CHECK_FALSE(split_url(text).has_value());
  }
}

TEST_CASE("servers are plain HTTP origins") {
  struct Case {
    std::string_view url, host;
    std::uint16_t port;
  };
  const Case cases[] = {{"http://127.0.0.1:3000", "127.0.0.1", 3000},
                        {"http://api.internal", "api.internal", 80},
                        {"HTTP://api:8080/", "api", 8080},
                        {"http://[::1]:3000", "::1", 3000},
                        {"https://api", "api", 443},
                        {"HTTPS://api:8443", "api", 8443}};
  for (const auto& [url, host, port] : cases) {
    CAPTURE(url);
    const auto server = parse_server_url(url);
    REQUIRE(server.has_value());
    CHECK(server->url == url);
    CHECK(server->host == host);
    CHECK(server->port == port);
    CHECK(server->secure == (url.starts_with("https") || url.starts_with("HTTPS")));
  }
}

TEST_CASE("a server URL with more in it is refused, and never repeated") {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"127.0.0.1:3000", "expected a URL"},
      {"ftp://marker", "unknown scheme"},
      {"http://user:marker@api", "user or password"},
      {"http://api/marker", "ends after HOST:PORT"},
      {"http://api?marker", "ends after HOST:PORT"},
      {"http://", "expected http://HOST:PORT"},
      {"http://:80", "expected http://HOST:PORT"},
      {"http://marker:0", "port 0"},
      {"http://marker:99999", "expected http://HOST:PORT"},
      {"http://mar ker", "expected http://HOST:PORT"},
  };
  for (const auto& [url, says] : cases) {
    CAPTURE(url);
    const auto server = parse_server_url(url);
    REQUIRE_FALSE(server.has_value());
    CHECK(server.error().message.find(says) != std::string::npos);
    CHECK(server.error().message.find("marker") == std::string::npos);
  }
}

}  // namespace
}  // namespace weir::config
