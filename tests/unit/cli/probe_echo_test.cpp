#include "cli/probe_echo.hpp"

#include "catch.hpp"

namespace weir::cli {

TEST_CASE("the path of the request is replaced in a body") {
  CHECK(without_echo("at /a/b.", "/a/b") == "at {path}.");
  CHECK(without_echo("/a/b?x /a/b", "/a/b?x") == "{path}?x {path}");
  CHECK(without_echo(R"(["\/a\/b","/a/b"])", "/a/b") == R"(["{path}","{path}"])");
  CHECK(without_echo("/a%2Fb /a/b", "/a%2Fb") == "{path} {path}");
  CHECK(without_echo("/%2561 /%61 /a", "/%2561") == "{path} {path} {path}");
  CHECK(without_echo("a / b", "/") == "a / b");
  CHECK(without_echo("", "/a") == "");
  CHECK(without_echo("/other", "/a") == "/other");
}

}  // namespace weir::cli
