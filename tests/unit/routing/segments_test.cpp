#include "routing/segments.hpp"

#include <random>
#include <string>

#include "catch.hpp"
#include "seed.hpp"

namespace weir::routing {
namespace {

std::string normal(std::string_view path, KeptSegments kept = {}) {
  std::string out = "before";
  append_segments(out, path, kept);
  return out.substr(6);
}

TEST_CASE("dot segments are resolved and empty segments are removed, unless they are kept") {
  struct Row {
    const char* path;
    const char* normal;
    const char* with_empty;
    const char* with_dots;
  };
  const Row rows[] = {
      // already normal
      {"/", "/", "/", "/"},
      {"/a/b", "/a/b", "/a/b", "/a/b"},
      {"/a/b/", "/a/b/", "/a/b/", "/a/b/"},
      {"/a;v=1", "/a;v=1", "/a;v=1", "/a;v=1"},
      {"", "/", "/", "/"},
      // RFC 3986 section 5.2.4
      {"/a/b/c/./../../g", "/a/g", "/a/g", "/a/b/c/./../../g"},
      {"/a/.", "/a/", "/a/", "/a/."},
      {"/a/..", "/", "/", "/a/.."},
      {"/../../a", "/a", "/a", "/../../a"},
      {"/a/...", "/a/...", "/a/...", "/a/..."},
      {"/.well-known/x", "/.well-known/x", "/.well-known/x", "/.well-known/x"},
      // runs of slashes
      {"//a///b//", "/a/b/", "//a///b//", "/a/b/"},
      {"/a//../b", "/b", "/a/b", "/a/../b"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.path);
    CHECK(normal(row.path) == row.normal);
    CHECK(normal(row.path, {.empty = true}) == row.with_empty);
    CHECK(normal(row.path, {.dots = true}) == row.with_dots);
  }
}

TEST_CASE("the normal form is its own normal form") {
  const TestSeed seed;
  std::mt19937 random(seed);
  const std::string alphabet = "/./a..;%";
  for (int i = 0; i < history_length(20'000); ++i) {
    std::string path = "/";
    for (unsigned length = random() % 16; length > 0; --length)
      path += alphabet[random() % alphabet.size()];
    CAPTURE(path);
    const std::string once = normal(path);
    CHECK(normal(once) == once);
    CHECK(once.front() == '/');
    CHECK(once.find("//") == std::string::npos);
    CHECK((once + "/").find("/../") == std::string::npos);
    CHECK((once + "/").find("/./") == std::string::npos);
    CHECK(normal(path, {.empty = true, .dots = true}) == path);
  }
}

TEST_CASE("segments are taken from the front") {
  std::string_view path = "/a//b/";
  CHECK(take_segment(path) == "a");
  CHECK(path == "//b/");
  CHECK(take_segment(path).empty());
  CHECK(take_segment(path) == "b");
  CHECK(path == "/");
  CHECK(take_segment(path).empty());
  CHECK(path.empty());
}

}  // namespace
}  // namespace weir::routing
