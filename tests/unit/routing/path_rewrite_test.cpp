#include "routing/path_rewrite.hpp"

#include <random>
#include <string>

#include "catch.hpp"
#include "routing/segments.hpp"
#include "seed.hpp"

namespace weir::routing {
namespace {

PathPattern pattern_of(std::string_view text) {
  return PathPattern::parse(text, {.slashes = true, .doubled = true}).value();
}

std::string target_of(const PathRewrite& rewrite, std::string_view target) {
  std::string out = "GET ";
  rewrite.append_target(out, target.substr(0, target.find('?')), target);
  return out.substr(4);
}

std::string stripped(std::string_view prefix, std::string_view pattern, std::string_view target) {
  return target_of(PathRewrite::strip(prefix, pattern_of(pattern)).value(), target);
}

std::string moved(std::string_view text, std::string_view pattern, std::string_view target) {
  return target_of(PathRewrite::to_template(text, pattern_of(pattern)).value(), target);
}

TEST_CASE("a dot segment that only some services find is noticed") {
  for (const std::string_view path :
       {"/files/..;/admin", "/files/.;x=1/a", "/..;", "/u/a%2F..%2Fadmin", "/u/a%2f%2e%2e%2fadmin",
        "/u/a%252F..%252Fadmin", "/u/..%3Bx/a", "/u/%2e%2e%253B/a", "/u/a%5C..%5Cadmin"}) {
    CAPTURE(path);
    CHECK(has_hidden_dot_segment(path));
  }
  for (const std::string_view path :
       {"/", "*", "/a/../b", "/a/./b;v=1", "/a;v=../b", "/a%2Fb", "/...;/a", "/..a;/b",
        "/a%20b/../c", "/%", "/a%", "/a/b%252e"}) {
    CAPTURE(path);
    CHECK_FALSE(has_hidden_dot_segment(path));
  }
}

TEST_CASE("a prefix is removed from the path, and the query stays") {
  struct Row {
    std::string_view target, expected;
  };
  const Row rows[] = {
      {"/api/x?q", "/x?q"},
      {"/api/x", "/x"},
      {"/api", "/"},
      {"/api/", "/"},
      {"/api?a=/b", "/?a=/b"},
      {"/api/x/", "/x/"},
      {"/api/x/y.z", "/x/y.z"},
      {"/api/x?", "/x?"},
      {"/api/api/x", "/api/x"},
      // Encoded text stays as it was sent, in the prefix, too.
      {"/%61pi/%7Euser/a%20b%2Fc", "/%7Euser/a%20b%2Fc"},
      {"/api/%3Fx%23?y", "/%3Fx%23?y"},
      {"/api/a;v=1/b", "/a;v=1/b"},
      {"/api/%", "/%"},
      // The rest is in its normal form: never "//host" and never above the root.
      {"/api//evil.example/x", "/evil.example/x"},
      {"//api///x", "/x"},
      {"/api/./x", "/x"},
      {"/api/y/../x", "/x"},
      {"/x/../api/..//api/x", "/x"},
      {"/api/x/..", "/"},
      {"*", "*"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.target);
    CHECK(stripped("/api", "/api/**", row.target) == row.expected);
  }
  CHECK(stripped("/a/b", "/a/b/c/{id}", "/a/b/c/7") == "/c/7");
  CHECK(stripped("/a%20b", "/a%20b/**", "/a%20b/x") == "/x");
  CHECK(stripped("/api", "/api", "/api") == "/");
}

TEST_CASE("a template gets the captured segments as they were sent") {
  struct Row {
    std::string_view text, pattern, target, expected;
  };
  const Row rows[] = {
      {"/v2/{rest}", "/v1/{rest}", "/v1/a?q=1", "/v2/a?q=1"},
      {"/v2/{b}/{a}", "/{a}/x/{b}", "/1/x/2", "/v2/2/1"},
      {"/{a}/{a}", "/x/{a}", "/x/7", "/7/7"},
      {"/fixed", "/x/{a}", "/x/7?q", "/fixed?q"},
      {"/", "/x", "/x", "/"},
      {"/y/", "/x", "/x", "/y/"},
      {"/v2/**", "/v1/**", "/v1/a/b/", "/v2/a/b/"},
      {"/v2/**", "/v1/**", "/v1", "/v2"},
      {"/v2/**", "/v1/**", "/v1/", "/v2/"},
      {"/**", "/v1/**", "/v1", "/"},
      {"/t/{tenant}/**", "/{tenant}/api/**", "/acme/api/x/y?z", "/t/acme/x/y?z"},
      {"/a%20b/{x}", "/{x}", "/c%20d", "/a%20b/c%20d"},
      {"/u/{x}", "/{x}", "/a%2Fb", "/u/a%2Fb"},
      {"/u/{x}/end", "/{x}", "/..%3b", "/u/..%3b/end"},
      {"/u/{x}", "/{x}", "//a//", "/u/a"},
      {"/u/{x}", "/{x}", "/y/../a", "/u/a"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text, row.target);
    CHECK(moved(row.text, row.pattern, row.target) == row.expected);
  }
}

std::string fault_of(const Result<PathRewrite>& rewrite) {
  return rewrite ? std::string() : rewrite.error().message;
}

TEST_CASE("a prefix that the pattern does not begin with is refused, with the fix") {
  struct Row {
    std::string_view prefix, pattern, message;
  };
  const Row rows[] = {
      {"api", "/api/**", "must start with \"/\", such as /v2"},
      {"/", "/api/**", "\"/\" is what every path begins with; remove the key"},
      {"/api/", "/api/**", "ends with a slash; write it without"},
      {"/api?x", "/api/**",
       "has \"?\" or \"#\"; remove it: the query of the request is sent unchanged"},
      {"/a//b", "/a/b", "has an empty segment; write one slash"},
      {"/API", "/api/**", "the path of match does not begin with it; write match: {path: /API/**}"},
      {"/api/v1", "/api/**",
       "the path of match does not begin with it; write match: {path: /api/v1/**}"},
      {"/api", "/**", "the path of match does not begin with it; write match: {path: /api/**}"},
      {"/api", "/{a}", "the path of match does not begin with it; write match: {path: /api/**}"},
      {"/*", "/*/x",
       "has a \"*\" or a \"{name}\"; to remove such segments, write path: /** or a template "
       "instead"},
      {"/a/..", "/a", "\"..\" is a dot segment; write the path without it"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.prefix);
    CHECK(fault_of(PathRewrite::strip(row.prefix, pattern_of(row.pattern))) == row.message);
  }
}

TEST_CASE("a template that cannot be filled or sent is refused, with the fix") {
  struct Row {
    std::string_view text, pattern, message;
  };
  const Row rows[] = {
      {"v2", "/v1/{id}", "must start with \"/\", such as /v2"},
      {"/v2?x={id}", "/v1/{id}",
       "has \"?\" or \"#\"; remove it: the query of the request is sent unchanged"},
      {"/v2/{name}", "/v1/{id}/{x}",
       "the path of match has no {name}; use one of its named segments: {id}, {x}"},
      {"/v2/{name}", "/v1/*",
       "the path of match has no {name}; give one of its segments this name"},
      {"/v2/*", "/v1/*",
       "\"*\" has no name; give the segment one in the path of match, such as {name}, and use it "
       "here"},
      {"/v2/**", "/v1/{id}", "has \"**\", but the path of match does not end with \"**\""},
      {"/**/x", "/v1/**", "\"**\" must come last"},
      {"/v2/x{id}", "/v1/{id}",
       "\"**\" and \"{name}\" stand for whole segments; \"x{id}\" has one within other text"},
      {"/v2/$1", "/v1/{id}",
       "a named segment is written {name}, as in the path of match; if \"$1\" is meant, write its "
       "first character as %24"},
      {"/v2/:id/x", "/v1/{id}",
       "a named segment is written {name}, as in the path of match; if \":id\" is meant, write its "
       "first character as %3A"},
      {"/v2/..", "/v1/{id}", "\"..\" is a dot segment; write the path without it"},
      {"/v2/./x", "/v1/{id}", "\".\" is a dot segment; write the path without it"},
      {"/v2//x", "/v1/{id}", "has an empty segment; write one slash"},
      {"/a b", "/v1/{id}",
       "has a character that a path cannot have; percent-encode it, such as %20 for a space"},
      {"/caf\xc3\xa9", "/v1/{id}",
       "has a character that a path cannot have; percent-encode it, such as %20 for a space"},
      {"/a%", "/v1/{id}",
       "has a character that a path cannot have; percent-encode it, such as %20 for a space"},
      {"/a\\b", "/v1/{id}",
       "has a character that a path cannot have; percent-encode it, such as %20 for a space"},
      {"/a%2eb", "/v1/{id}",
       "has an encoded dot, slash or backslash, which services read in two ways; write it without "
       "the encoding"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(fault_of(PathRewrite::to_template(row.text, pattern_of(row.pattern))) == row.message);
  }
}

std::size_t slashes_in(std::string_view path) {
  return static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
}

TEST_CASE("no captured text adds a segment, a dot segment or a query") {
  constexpr std::string_view pieces[] = {"a",  "..", ".",   "/",   "%2F", "%3F", "%23",
                                         ";x", "//", "%20", "%5B", "%",   "..;", "A"};
  const auto pattern = pattern_of("/in/{one}/{two}");
  const auto rewrite = PathRewrite::to_template("/out/{two}/x/{one}", pattern).value();
  const TestSeed seed;
  std::mt19937 random(seed);
  int matched = 0;
  for (int i = 0; i < history_length(20'000); ++i) {
    std::string path = "/in/";
    for (auto n = random() % 6; n != 0; --n)
      path += pieces[random() % std::size(pieces)];
    path += '/';
    for (auto n = 1 + random() % 5; n != 0; --n)
      path += pieces[random() % std::size(pieces)];
    PathReadings readings;
    if (readings.read(path, {.tolerated = {.slashes = true, .doubled = true}})) continue;
    if (!pattern.matches(readings.all().front(), nullptr)) continue;
    ++matched;
    CAPTURE(path);
    const std::string target = target_of(rewrite, path + "?q");
    REQUIRE(target.ends_with("?q"));
    const std::string_view sent = std::string_view(target).substr(0, target.size() - 2);
    REQUIRE(slashes_in(sent) == 4);
    REQUIRE(sent.find('?') == std::string_view::npos);
    std::string normal;
    append_segments(normal, sent);
    REQUIRE(normal == sent);
    REQUIRE(sent.starts_with("/out/"));
  }
  CHECK(matched > 500);
}

}  // namespace
}  // namespace weir::routing
