#include "routing/path_pattern.hpp"

#include <array>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "seed.hpp"

namespace weir::routing {
namespace {

using Captures = std::array<std::string_view, path_parameter_limit>;

bool matches(std::string_view pattern, std::string_view path) {
  Captures captures;
  return PathPattern::parse(pattern).value().matches({.text = path}, captures.data());
}

TEST_CASE("patterns match their paths") {
  struct Row {
    const char* pattern;
    std::vector<const char*> matched;
    std::vector<const char*> unmatched;
  };
  const Row rows[] = {
      // exact
      {"/", {"/"}, {"", "*", "//", "/a"}},
      {"/exact",
       {"/exact"},
       {"/", "/exact/", "/exactly", "/Exact", "/exact/a", "exact", "//exact", "/%65xact"}},
      {"/a/b/", {"/a/b/"}, {"/a/b", "/a/b//", "/a/b/c"}},
      // one segment, not an empty one
      {"/v1/*",
       {"/v1/a", "/v1/..", "/v1/%2F"},
       {"/v1", "/v1/", "/v1/a/", "/v1/a/b", "/v2/a", "/v1//"}},
      {"/*/b", {"/a/b"}, {"//b", "/b", "/a/a/b", "/a/c"}},
      // any depth, including none
      {"/v1/**",
       {"/v1", "/v1/", "/v1/a", "/v1/a/b/", "/v1//"},
       {"/v1a", "/v", "/", "/v2/a", "v1/a"}},
      {"/**", {"/", "/a", "/a/b", "*", ""}, {}},
      {"/*/**", {"/a", "/a/", "/a/b/c"}, {"/", "//a"}},
      // a named segment
      {"/users/{id}",
       {"/users/7", "/users/a%20b"},
       {"/users", "/users/", "/users/7/", "/users/7/x"}},
      {"/users/{id}/**", {"/users/7", "/users/7/x/y"}, {"/users", "/users/"}},
  };
  for (const Row& row : rows) {
    for (const char* path : row.matched) {
      INFO(row.pattern << " and " << path);
      CHECK(matches(row.pattern, path));
    }
    for (const char* path : row.unmatched) {
      INFO(row.pattern << " and " << path);
      CHECK_FALSE(matches(row.pattern, path));
    }
  }
}

TEST_CASE("named segments are captured as they are read, in the pattern's order") {
  const PathPattern pattern = PathPattern::parse("/{a}/x/{b-2}/*/{c_3}/**").value();
  CHECK(pattern.parameters() == std::vector<std::string>{"a", "b-2", "c_3"});
  CHECK(pattern.text() == "/{a}/x/{b-2}/*/{c_3}/**");
  Captures captures;
  REQUIRE(pattern.matches({.text = "/1%2F/x/2/skipped/3/more/of/it"}, captures.data()));
  CHECK(captures[0] == "1%2F");
  CHECK(captures[1] == "2");
  CHECK(captures[2] == "3");
}

TEST_CASE("an invalid pattern is refused with its text and the reason") {
  struct Row {
    const char* pattern;
    const char* reason;
  };
  const Row rows[] = {
      {"", "must start with \"/\""},
      {"a", "must start with \"/\""},
      {"*", "must start with \"/\""},
      {"/**/a", "must come last"},
      {"/a*", "whole segments"},
      {"/***", "whole segments"},
      {"/a{id}", "whole segments"},
      {"/{id", "whole segments"},
      {"/{a}{b}", "letters, digits"},
      {"/{}", "letters, digits"},
      {"/{a b}", "space"},
      {"/{a/b}", "whole segments"},
      {"/{a.b}", "letters, digits"},
      {"/{id}/{id}", "named twice"},
      {"/a?b", "the path only"},
      {"/a#b", "the path only"},
      {"/a b", "the path only"},
      {"/a//b", "requests are matched in the form \"/a/b\""},
      {"/a/../b", "requests are matched in the form \"/b\""},
      {"/%61/{id}", "requests are matched in the form \"/a/{id}\""},
      {"/%7euser", "requests are matched in the form \"/~user\""},
      {"/x/%2e%2E/login", "requests are matched in the form \"/login\""},
      {"/a%20b/%2D", "requests are matched in the form \"/a%20b/-\""},
      {"/a/.", "requests are matched in the form \"/a/\""},
      {"/a\n", "the path only"},
      {"/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}", "more than 8"},
      // requests for these are refused
      {"/a%2Fb", "encoded slash"},
      {"/a%5cb", "encoded backslash"},
      {"/a%00", "encoded control"},
      {"/%2561", "encoded twice"},
  };
  for (const Row& row : rows) {
    INFO(row.pattern);
    const auto pattern = PathPattern::parse(row.pattern);
    REQUIRE_FALSE(pattern.has_value());
    CHECK(pattern.error().message.find(row.reason) != std::string::npos);
    CHECK(pattern.error().message.find(row.pattern) != std::string::npos);
  }
  CHECK(PathPattern::parse("/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}").has_value());
}

TEST_CASE("an unreserved character is not escaped in a pattern, and every other one may be") {
  constexpr std::string_view digits = "0123456789abcdef";
  constexpr std::string_view unreserved =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";  // RFC 3986 section 2.3
  for (unsigned c = 0x20; c < 0x100; ++c) {
    if (c == '/' || c == '\\' || c == 0x7f) continue;  // refused in any spelling
    const std::string pattern = std::string("/a%") + digits[c >> 4] + digits[c & 15] + "b";
    CAPTURE(pattern);
    const auto parsed = PathPattern::parse(pattern);
    const bool is_unreserved = unreserved.find(static_cast<char>(c)) != std::string_view::npos;
    CHECK(parsed.has_value() != is_unreserved);
    if (is_unreserved) {
      const std::string normal = std::string("\"/a") + static_cast<char>(c) + "b\"";
      CHECK(parsed.error().message.find("in the form " + normal) != std::string::npos);
    }
  }
}

TEST_CASE("an encoding that the route tolerates is matched as requests have it") {
  const PathEncodings tolerated{.slashes = true, .doubled = true};
  const PathPattern slash = PathPattern::parse("/a%2fb/{id}", tolerated).value();
  CHECK((slash.encodings().slashes && !slash.encodings().doubled));
  const PathPattern doubled = PathPattern::parse("/%2561", tolerated).value();
  CHECK((!doubled.encodings().slashes && doubled.encodings().doubled));
  PathReadings readings;
  Captures captures;
  REQUIRE_FALSE(readings.read("/a%2Fb/7", {.tolerated = tolerated}));
  CHECK(slash.matches(readings.all().front(), captures.data()));
  CHECK(captures[0] == "7");
  CHECK_FALSE(slash.matches({.text = "/a/b/7"}, captures.data()));
  REQUIRE_FALSE(readings.read("/%2561", {.tolerated = tolerated}));
  CHECK(doubled.matches(readings.all().front(), captures.data()));
  CHECK_FALSE(PathPattern::parse("/a%5Cb", tolerated).has_value());
  CHECK_FALSE(PathPattern::parse("/a%2Fb", {.doubled = true}).has_value());
}

TEST_CASE("escapes in a pattern stand for what they encode") {
  CHECK(matches("/a%20b", "/a b"));
  CHECK(matches("/caf%c3%a9/*", "/caf\xc3\xa9/x"));
  CHECK(matches("/%2A%2A", "/**"));
  CHECK_FALSE(matches("/%2A%2A", "/a"));
  CHECK_FALSE(matches("/a%20b", "/a%20b"));
}

TEST_CASE("a reading may ignore case or a trailing slash") {
  struct Row {
    const char* pattern;
    const char* path;
    bool ignores_case;
    bool ignores_trailing_slash;
    bool matches;
  };
  const Row rows[] = {
      {"/Login", "/lOGIN", true, false, true},
      {"/login", "/Login", false, true, false},
      {"/login", "/Login/", true, true, true},
      {"/login", "/login/", false, true, true},
      {"/login/", "/login", false, true, true},
      {"/login/", "/login/", false, true, true},
      {"/login/", "/login", true, false, false},
      {"/login", "/login//", false, true, false},
      {"/", "/", false, true, true},
      {"/", "/a", false, true, false},
      {"/users/*", "/users/7/", false, true, true},
      {"/users/*", "/users/", false, true, false},
      {"/v1/**", "/V1/", true, true, true},
      {"/**", "*", true, true, true},
  };
  for (const Row& row : rows) {
    INFO(row.pattern << " and " << row.path);
    Captures captures;
    const PathReading reading{.text = row.path,
                              .ignores_case = row.ignores_case,
                              .ignores_trailing_slash = row.ignores_trailing_slash};
    CHECK(PathPattern::parse(row.pattern).value().matches(reading, captures.data()) == row.matches);
  }
}

TEST_CASE("a pattern has a literal segment, or matches most paths") {
  for (const char* pattern : {"/a/**", "/*/b", "/{id}/x"})
    CHECK(PathPattern::parse(pattern).value().has_literal());
  for (const char* pattern : {"/", "/**", "/*", "/{id}/**", "/*/"})
    CHECK_FALSE(PathPattern::parse(pattern).value().has_literal());
}

TEST_CASE("a pattern has upper case if a literal has a letter of it") {
  for (char c = '!'; c < 0x7f; ++c) {
    if (std::string_view("#%*/?\\{}").find(c) != std::string_view::npos) continue;
    const std::string pattern = std::string("/a") + c + "/{B}/**";
    CAPTURE(pattern);
    CHECK(PathPattern::parse(pattern).value().has_upper_case() == (c >= 'A' && c <= 'Z'));
  }
  CHECK(PathPattern::parse("/a%20%c3%89").value().has_upper_case() == false);
}

TEST_CASE("a capture keeps its case in a reading that ignores case") {
  Captures captures;
  const PathReading reading{.text = "/USERS/Anna", .ignores_case = true};
  REQUIRE(PathPattern::parse("/users/{id}").value().matches(reading, captures.data()));
  CHECK(captures[0] == "Anna");
}

std::vector<std::string> segments_of(std::string_view path) {
  std::vector<std::string> segments;
  for (const char c : path) {
    if (c == '/') {
      segments.emplace_back();
    } else {
      segments.back() += c;
    }
  }
  return segments;
}

/// A simple model of the meaning of a pattern.
bool model(std::string_view pattern, std::string_view path) {
  const auto wanted = segments_of(pattern);
  const auto found = segments_of(path);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == "**") return true;
    if (i >= found.size()) return false;
    const bool wild = wanted[i] == "*" || wanted[i] == "{p}";
    if (wild ? found[i].empty() : found[i] != wanted[i]) return false;
  }
  return found.size() == wanted.size();
}

TEST_CASE("patterns agree with a model") {
  const TestSeed seed;
  std::mt19937 random{seed};
  const std::vector<std::string> parts{"/a", "/b", "/", "/*", "/ab"};
  for (int i = 0; i < history_length(20'000); ++i) {
    std::string pattern;
    std::string path;
    for (auto count = random() % 4; count-- > 0;)
      pattern += parts[random() % parts.size()];
    for (auto count = 1 + random() % 4; count-- > 0;)
      path += parts[random() % 3];
    if (random() % 3 == 0) pattern += "/{p}";
    if (random() % 3 == 0 || pattern.empty()) pattern += "/**";
    if (pattern.find("//") != std::string::npos) continue;  // refused: never matched
    CAPTURE(pattern, path);
    REQUIRE(matches(pattern, path) == model(pattern, path));
  }
}

}  // namespace
}  // namespace weir::routing
