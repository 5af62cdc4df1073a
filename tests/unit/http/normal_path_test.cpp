#include "http/normal_path.hpp"

#include <random>
#include <string>

#include "catch.hpp"

using namespace weir::http;

namespace {

std::string normal(std::string_view path) {
  std::string out;
  append_normal_path(out, path);
  return out;
}

}  // namespace

TEST_CASE("other spellings of a path have one normal form") {
  struct Row {
    const char* path;
    const char* normal;
  };
  const Row rows[] = {
      // already normal
      {"/", "/"},
      {"/a/b", "/a/b"},
      {"/a/b/", "/a/b/"},
      {"/a;v=1", "/a;v=1"},
      {"*", "*"},
      // RFC 3986 section 5.2.4
      {"/a/b/c/./../../g", "/a/g"},
      {"/a/.", "/a/"},
      {"/a/..", "/"},
      {"/../../a", "/a"},
      {"/a/...", "/a/..."},
      {"/.well-known/x", "/.well-known/x"},
      // runs of slashes
      {"//a///b//", "/a/b/"},
      {"/a//../b", "/b"},
      // escapes: unreserved ones are decoded, before dot segments are looked for
      {"/%6cogin", "/login"},
      {"/x/%2e%2E/login", "/login"},
      {"/a%2fb", "/a%2Fb"},
      {"/%7euser", "/~user"},
      {"/100%", "/100%"},
      {"/%zz%4", "/%zz%4"},
      {"/%2561", "/%2561"},
  };
  for (const auto& [path, expected] : rows) {
    CAPTURE(path);
    CHECK(normal(path) == expected);
  }
}

TEST_CASE("the normal form is its own normal form, and is recognised where it is plain") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const std::string alphabet = "/./%2e6cFa";
  for (int i = 0; i < 20'000; ++i) {
    std::string path = "/";
    for (unsigned length = random() % 16; length > 0; --length)
      path += alphabet[random() % alphabet.size()];
    CAPTURE(path);
    const std::string once = normal(path);
    // An escape that decoding puts together ("%%36" and "1") is not looked at again, as RFC 3986
    // section 2.4 has it.
    if (once.find('%') == std::string::npos) CHECK(normal(once) == once);
    CHECK(once.front() == '/');
    CHECK(once.find("//") == std::string::npos);
    if (is_normal_path(path)) CHECK(once == path);
  }
}
