// Values that are written as text have the key of the requests that carry them.
#include "catch.hpp"
#include "unit/identity/resolving.hpp"

namespace weir::identity::test {
namespace {

std::vector<Hash128> keys(const Source& source, std::string_view value, bool ignores = false) {
  return keys_of(
      source, value,
      {.client = {}, .path_ignores_case = ignores, .path_ignores_trailing_slash = ignores}, key);
}

}  // namespace

TEST_CASE("a value has the key of requests with it") {
  const auto check = [](const Source& source, const char* value, const Given& request) {
    CAPTURE(value);
    const auto expected = resolved(source, request);
    REQUIRE(expected);
    CHECK(keys(source, value) == std::vector{*expected});
    CHECK(keys(source, "198.51.100.1") != std::vector{*expected});
  };
  check(header("x-api-key"), "alice", {.fields = {{"X-Api-Key", " alice"}}});
  check(header("X-Api-Key"), " alice ", {.fields = {{"X-Api-Key", "alice"}}});
  check(header("authorization"), "Bearer t0ken", {.fields = {{"Authorization", "t0ken"}}});
  check(header("authorization"), "t0ken", {.fields = {{"Authorization", "Bearer t0ken"}}});
  check(header("authorization"), "token=abc", {.fields = {{"Authorization", "token=abc"}}});
  check(query("k"), "a b+c%", {.query = "k=a%20b%2Bc%25"});
  check(query("k"), " a\xc2\xa0", {.query = "k=a"});
  check(from_cookie("sid"), "a/b", {.fields = {{"Cookie", "sid=a%2Fb"}}});
  check({FromClientAddress{}}, "192.0.2.1", {.client = "192.0.2.1"});
  check({FromClientAddress{}}, "::ffff:192.0.2.1", {.client = "192.0.2.1"});
  check({FromClientAddress{}}, "2001:db8::1", {.client = "2001:db8::ffff"});
  check({FromPath{}}, "/a b", {.path = "/a b"});
  check({FromPath{"id"}}, "42", {.parameters = {{"id", "42"}}});
}

TEST_CASE("a value that no request can have has no key") {
  CHECK(keys({FromClientAddress{}}, "alice").empty());
  CHECK(keys({FromClientAddress{}}, "192.0.2.0/24").empty());
  CHECK(keys({FromClientAddress{}}, "2001:db8::1/64").empty());
  CHECK(keys(header("x"), " ").empty());
  CHECK(keys(query("x"), "\xc2\xa0").empty());
  CHECK(keys({FromPath{}}, "").empty());
  CHECK(keys(header("authorization"), "Basic a").empty());
  CHECK(keys(header("authorization"), "Bearer a b").empty());
}

TEST_CASE("a network that is counted as one client has a key") {
  CHECK(keys({FromClientAddress{}}, "2001:db8::/64") == keys({FromClientAddress{}}, "2001:db8::1"));
  CHECK(keys({FromClientAddress{}}, "192.0.2.1/32") == keys({FromClientAddress{}}, "192.0.2.1"));
}

TEST_CASE("a path is compared as the configuration does") {
  CHECK(keys({FromPath{}}, "/A/", true) == keys({FromPath{}}, "/a"));
  CHECK(keys({FromPath{}}, "/A/") != keys({FromPath{}}, "/a"));
}

TEST_CASE("each source of a choice may have the value, and a combination has no one value") {
  const Source either{AnyOf{{header("x"), query("y"), {FromClientAddress{}}}}};
  CHECK(has_one_value(either));
  CHECK(keys(either, "a") == std::vector{keys(header("x"), "a")[0], keys(query("y"), "a")[0]});
  CHECK(resolved(either, {.query = "y=a"}) == keys(either, "a")[1]);
  const Source both{AllOf{{header("x"), query("y")}}};
  CHECK_FALSE(has_one_value(both));
  CHECK_FALSE(has_one_value({AnyOf{{header("x"), both}}}));
  CHECK(has_one_value(header("x")));
}

}  // namespace weir::identity::test
