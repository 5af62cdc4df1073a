// Values in a configuration.
#include "cli/yaml_text.hpp"

#include <string>

#include "catch.hpp"
#include "config/load.hpp"

namespace weir::cli {
namespace {

TEST_CASE("the loader reads exactly the text") {
  for (const std::string text :
       {"plain", "a\"b\\c", "${HOME}", "$${x}", "$$${x}", "${", "a: b # c", "tab\t", "é", "{}"}) {
    CAPTURE(text);
    const auto loaded = config::load_text("routes: [{respond: {body: " + yaml_text(text) + "}}]",
                                          config::process_environment("x"));
    REQUIRE(loaded.has_value());
    CHECK((*loaded)->proxy.routes[0].respond.body == text);
  }
}

}  // namespace
}  // namespace weir::cli
