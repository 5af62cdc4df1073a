#include "routing/path_readings.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "seed.hpp"

namespace weir::routing {
namespace {

constexpr PathVariants no_variants{.letter_case = false,
                                   .trailing_slash = false,
                                   .repeated_slashes = false,
                                   .dot_segments = false,
                                   .parameters = false,
                                   .encoded_delimiters = false};
constexpr ReadingOptions all_tolerated{.variants = {},
                                       .tolerated = {.slashes = true, .doubled = true}};

std::string detail(std::string_view path, const ReadingOptions& options = {}) {
  PathReadings readings;
  const auto refusal = readings.read(path, options);
  if (refusal) CHECK(refusal->status == 400);
  return refusal ? std::string(refusal->detail) : "";
}

/// The texts, the normal form first; those that ignore case or a trailing slash are marked.
std::vector<std::string> readings_of(std::string_view path, const ReadingOptions& options = {}) {
  PathReadings readings;
  REQUIRE_FALSE(readings.read(path, options));
  std::vector<std::string> texts;
  for (const PathReading& reading : readings.all()) {
    texts.push_back(std::string(reading.text) + (reading.ignores_case ? " case" : "") +
                    (reading.ignores_trailing_slash ? " slash" : ""));
  }
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a plain path has one reading") {
  for (const char* path : {"/", "/a/b", "/a_b-c~d", "*", "/a.b", "/caf\xc3\xa9", "/a/b.c/d"})
    CHECK(readings_of(path) == Texts{path});
}

TEST_CASE("a path is read with and without each of its differences") {
  struct Row {
    const char* path;
    Texts readings;
  };
  const Row rows[] = {
      // escapes are decoded, and there is one reading
      {"/%6cogin", {"/login"}},
      {"/a%20b/%c3%a9", {"/a b/\xc3\xa9"}},
      {"/%7Euser", {"/~user"}},
      {"/a%2Eb", {"/a.b"}},
      // letter case
      {"/Login", {"/Login", "/Login case"}},
      {"/%4Cogin", {"/Login", "/Login case"}},
      // trailing slash
      {"/login/", {"/login/", "/login/ slash"}},
      {"/Login/", {"/Login/", "/Login/ case", "/Login/ slash", "/Login/ case slash"}},
      // repeated slashes
      {"//login", {"/login", "//login", "/"}},
      {"//host/login", {"/host/login", "//host/login", "/login"}},
      {"///host/login", {"/host/login", "///host/login", "/login"}},
      {"/a///b", {"/a/b", "/a///b"}},
      {"//", {"/", "//", "// slash"}},
      {"//host", {"/host", "//host", "/"}},
      // dot segments
      {"/a/../b", {"/b", "/a/../b"}},
      {"/./a", {"/a", "/./a"}},
      {"/../a", {"/a", "/../a"}},
      {"/.well-known/x", {"/.well-known/x"}},
      {"/...", {"/..."}},
      // both: RFC 3986 section 5.2.4 takes an empty segment away with ".."
      {"/a//../b", {"/b", "/a/b", "/a/../b", "/a//../b"}},
      {"/a//..//b", {"/b", "/a//b", "/a/b", "/a/../b", "/a//..//b"}},
      // parameters
      {"/login;v=1", {"/login;v=1", "/login"}},
      {"/a;x/b;y", {"/a;x/b;y", "/a/b", "/a"}},
      {"/a/..;/b", {"/a/..;/b", "/b", "/a/../b", "/", "/a/.."}},
      {"/;x/a", {"/;x/a", "/a", "//a", "/"}},
      {"/login;/x", {"/login;/x", "/login/x", "/login"}},
      {"/login;x=1/../b", {"/b", "/login;x=1/../b", "/login/../b", "/login"}},
      {"/login;/..", {"/", "/login;/..", "/login/..", "/login"}},
      {"/Login;/x",
       {"/Login;/x", "/Login;/x case", "/Login/x", "/Login/x case", "/Login", "/Login case"}},
      // encoded delimiters
      {"/login%3Fx", {"/login?x", "/login"}},
      {"/login%23x/y", {"/login#x/y", "/login"}},
      {"/a%3Bx/b", {"/a;x/b", "/a/b"}},
      {"/a;x%3Bx/b", {"/a;x;x/b", "/a/b", "/a;x/b", "/a"}},
      // backslashes, where they may pass
      {"/a\\b", {"/a\\b", "/a/b"}},
  };
  for (const auto& [path, expected] : rows) {
    CAPTURE(path);
    auto found = readings_of(path);
    REQUIRE_FALSE(found.empty());
    CHECK(found.front() == expected.front());
    auto sorted = expected;
    std::sort(found.begin(), found.end());
    std::sort(sorted.begin(), sorted.end());
    CHECK(found == sorted);
  }
}

TEST_CASE("without variants there is only the normal form") {
  for (const char* path : {"//A/../b;v=1/", "/Login", "/login/", "/a;b", "/./a"})
    CHECK(readings_of(path, {.variants = no_variants}).size() == 1);
}

TEST_CASE("patterns in upper case or with a trailing slash make plain paths read in two ways") {
  CHECK(readings_of("/a", {.has_upper_case_patterns = true}) == Texts{"/a", "/a case"});
  CHECK(readings_of("/a", {.has_trailing_slash_patterns = true}) == Texts{"/a", "/a slash"});
}

TEST_CASE("a path whose structure depends on its decoding is refused") {
  struct Row {
    const char* path;
    const char* detail;
  };
  const Row rows[] = {
      {"/a%2fb", "encoded slash"},          {"/a%2Fb", "encoded slash"},
      {"/a%5Cb", "encoded backslash"},      {"/a%5cb", "encoded backslash"},
      {"/a%00b", "encoded control"},        {"/a%0a", "encoded control"},
      {"/a%09", "encoded control"},         {"/a%7f", "encoded control"},
      {"/%2e%2e/a", "encoded dot segment"}, {"/a/.%2E", "encoded dot segment"},
      {"/a/%2e/b", "encoded dot segment"},  {"/%2e%2e;x/a", "encoded dot segment"},
      {"/..%3bx/a", "encoded dot segment"}, {"/%2561", "encoded twice"},
      {"/a%252Fb", "encoded twice"},        {"/%25%32%46", "encoded twice"},
      {"/%%36%31", "encoded twice"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.path);
    CHECK(detail(row.path).find(row.detail) != std::string::npos);
    CHECK(detail(row.path, {.variants = no_variants}).find(row.detail) != std::string::npos);
  }
  CHECK(detail("/50%25").empty());
  CHECK(readings_of("/%zz%4/100%") == Texts{"/%zz%4/100%"});
  CHECK(detail("/50%25off").empty());
}

TEST_CASE("an encoded slash that is tolerated is read encoded and decoded") {
  CHECK(readings_of("/a%2fb", all_tolerated) == Texts{"/a%2Fb", "/a%2Fb case", "/a/b"});
  const auto dots = readings_of("/files/..%2f..%2fb", all_tolerated);
  CHECK(dots.front() == "/files/..%2F..%2Fb");
  CHECK(std::find(dots.begin(), dots.end(), "/b") != dots.end());
  const auto parameters = readings_of("/a;x%2fb", all_tolerated);
  CHECK(std::find(parameters.begin(), parameters.end(), "/a/b") != parameters.end());
  CHECK_FALSE(detail("/a%2fb%00", all_tolerated).empty());
  CHECK_FALSE(detail("/a%2fb%5c", all_tolerated).empty());
}

TEST_CASE("a double encoding that is tolerated is decoded once") {
  CHECK(readings_of("/%2561", all_tolerated) == Texts{"/%61"});
  PathReadings readings;
  REQUIRE_FALSE(readings.read("/a%252Fb", all_tolerated));
  CHECK(readings.encodings().doubled);
  CHECK_FALSE(readings.encodings().slashes);
}

TEST_CASE("a path in too many readings is refused") {
  CHECK(detail("//A/b;v=1") == "");
  CHECK(detail("//A/../b;v=1/") == "the path can be read in too many ways");
}

TEST_CASE("random paths: no reading has an escape that can be decoded, and the first is normal") {
  const TestSeed seed;
  std::mt19937 random(seed);
  const std::vector<std::string> parts{"/",   "//",  "a",   "A",   ".",   "..",  ";x",  "%2e",
                                       "%2F", "%5C", "%41", "%25", "%3b", "%00", "b/c", "%"};
  PathReadings readings;
  for (int i = 0; i < history_length(50'000); ++i) {
    std::string path = "/";
    for (auto length = random() % 8; length > 0; --length)
      path += parts[random() % parts.size()];
    CAPTURE(path);
    if (readings.read(path, all_tolerated)) continue;
    const auto all = readings.all();
    REQUIRE((!all.empty() && all.size() <= PathReadings::limit));
    const auto normal = all.front();
    CHECK((!normal.ignores_case && !normal.ignores_trailing_slash));
    CHECK(normal.text.find("//") == std::string_view::npos);
    CHECK((std::string(normal.text) + "/").find("/../") == std::string::npos);
    for (const auto& reading : all) {
      CHECK(reading.text.starts_with('/'));
      CHECK(reading.text.find('\\') == std::string_view::npos);
      CHECK(reading.text.find('\0') == std::string_view::npos);
    }
  }
}

}  // namespace weir::routing
