#include "cli/admin_call.hpp"

#include "catch.hpp"

namespace weir::cli {
namespace {

TEST_CASE("an admin server is named by a URL") {
  CHECK(parse_admin_url(default_admin_url)->to_string() == "127.0.0.1:9090");
  CHECK(parse_admin_url("http://[::1]:9090/")->to_string() == "[::1]:9090");
  CHECK(parse_admin_url("unix:/run/weir.sock")->is_unix());
  CHECK(parse_admin_url("http://localhost:9090")->to_string() == "localhost:9090");
  for (const char* const wrong :
       {"", "localhost", "127.0.0.1:9090", "http://", "http://127.0.0.1", "http://a:0",
        "https://a:1", "http://a:9090/v1", "http://unix:/a"}) {
    CAPTURE(wrong);
    REQUIRE(parse_admin_url(wrong).has_error());
    CHECK(parse_admin_url(wrong).error().message.find("write http://HOST:PORT") !=
          std::string::npos);
  }
}

TEST_CASE("a password in the URL of an admin server is refused, and never repeated") {
  for (const char* const url :
       {"http://u:marker@a:9090", "https://marker@a", "http://marker@a/v1"}) {
    CAPTURE(url);
    REQUIRE(parse_admin_url(url).has_error());
    CHECK(parse_admin_url(url).error().message.starts_with("a user or password"));
    CHECK(parse_admin_url(url).error().message.find("marker") == std::string::npos);
    CHECK(parse_admin_url(url, ", and so on").error().message.ends_with("remove it, and so on"));
  }
}

TEST_CASE("the default that reaches nobody has a hint to name another server") {
  CHECK(advice_on_unreached(default_admin_url).find("--admin http://HOST:PORT") !=
        std::string::npos);
  CHECK(advice_on_unreached("http://127.0.0.1:9091").empty());
  CHECK(advice_on_unreached("unix:/run/weir.sock").empty());
}

}  // namespace
}  // namespace weir::cli
