#include "catch.hpp"
#include "unit/config/loading.hpp"

namespace weir::config {
namespace {

using test::must_load;
using test::problems_of;

constexpr const char* one_route = "routes: [{respond: {}}]\n";

routing::PathVariants variants_of(const std::string& paths) {
  return must_load(paths + one_route)->proxy.path_variants;
}

TEST_CASE("every difference between spellings of a path is matched by default") {
  const auto variants = variants_of("");
  CHECK((variants.letter_case && variants.trailing_slash && variants.repeated_slashes &&
         variants.dot_segments && variants.parameters && variants.encoded_delimiters));
}

TEST_CASE("a list of differences replaces the default") {
  const auto some = variants_of("paths: {also_match: [trailing_slash, parameters]}\n");
  CHECK((some.trailing_slash && some.parameters));
  CHECK_FALSE((some.letter_case || some.repeated_slashes || some.dot_segments));
  const auto none = variants_of("paths: {also_match: []}\n");
  CHECK_FALSE((none.trailing_slash || none.parameters || none.letter_case));
}

TEST_CASE("an unknown difference is reported with the known ones") {
  CHECK(problems_of(std::string("paths: {also_match: [case]}\n") + one_route)
            .find("paths.also_match[0]: expected letter_case, trailing_slash") !=
        std::string::npos);
  CHECK(problems_of(std::string("paths: {also_match: letter_case}\n") + one_route)
            .find("expected a list of differences, such as [letter_case]") != std::string::npos);
}

TEST_CASE("a route may accept paths that others refuse") {
  const auto config = must_load(R"(
routes:
  - {match: {path: /a/**}, respond: {}, encoded_slashes: match_both}
  - {match: {path: /b/**}, respond: {}, double_encoding: pass}
  - {match: {path: /c/**}, respond: {}, encoded_slashes: refuse, double_encoding: refuse}
)");
  CHECK((config->proxy.routes[0].encoded_slashes && !config->proxy.routes[0].double_encoding));
  CHECK((!config->proxy.routes[1].encoded_slashes && config->proxy.routes[1].double_encoding));
  CHECK_FALSE((config->proxy.routes[2].encoded_slashes || config->proxy.routes[2].double_encoding));
  CHECK(problems_of("routes: [{respond: {}, encoded_slashes: true}]\n")
            .find("routes[0].encoded_slashes: expected refuse or match_both") != std::string::npos);
}

TEST_CASE("a pattern has an encoding only if its route accepts it") {
  const auto config = must_load(R"(
routes:
  - {encoded_slashes: match_both, respond: {}, match: {path: /a%2Fb}}
  - {match: {path: "/%2561"}, respond: {}, double_encoding: pass}
)");
  CHECK(config->proxy.routes[0].match.path->text() == "/a%2Fb");
  CHECK(problems_of("routes: [{match: {path: /a%2Fb}, respond: {}}]\n") ==
        "1:25: routes[0].match.path: never matches, because requests with %2F are "
        "refused; set encoded_slashes: match_both on the route\n");
  CHECK(problems_of(
            "routes: [{match: {path: /%2561}, respond: {}, encoded_slashes: match_both}]\n") ==
        "1:25: routes[0].match.path: never matches, because requests that are "
        "percent-encoded twice are refused; set double_encoding: pass on the route\n");
}

}  // namespace
}  // namespace weir::config
