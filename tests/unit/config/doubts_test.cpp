#include "catch.hpp"
#include "config/hints.hpp"

namespace weir::config {
namespace {

TEST_CASE("path patterns that probably mean something else") {
  CHECK(pattern_doubt("/users/:id/x") ==
        "matches the text \":id\"; for a segment of any value write {id}");
  CHECK(pattern_doubt("/users/[0-9]+").starts_with("has characters of a regular expression"));
  for (const char* const fine : {"/users/{id}", "/v1/**", "/a:b", "/:", "/a.b"})
    CHECK(pattern_doubt(fine).empty());
}

TEST_CASE("values of headers that look like patterns") {
  for (const char* const pattern :
       {"^Mozilla.*", ".*bot.*", "~foo", "~* bot", "v[0-9]+", "\\d+", "a.+", "(bot|crawler)",
        "(?i)bot", "*bot*", "Mozilla*", "*.example.com"}) {
    CAPTURE(pattern);
    CHECK(header_value_doubt(pattern).starts_with("is compared as it is, and is not a pattern: "));
  }
  for (const char* const value :
       {"", "1", "*", "*/*", "gzip, *", "text/*", "image/webp,*/*;q=0.8", "bytes=0-",
        "Mozilla/5.0 (X11; Linux x86_64) like Gecko", "a|b", "a$b", "[::1]", "a~b", "1.0",
        "{\"a\":[1]}", "(a)", "https://a.example/?b=c+d"}) {
    CAPTURE(value);
    CHECK(header_value_doubt(value).empty());
  }
}

TEST_CASE("a variable of another program is found in a text") {
  const auto [text, variable] = GENERATE(table<std::string_view, std::string_view>({
      {"$host", "$host"},
      {"https://$host$request_uri", "$host"},
      {"x-$remote_addr", "$remote_addr"},
      {"script-src 'nonce-$request_id'", "$request_id"},
      {"a$http_x_b", "$http_x_b"},
      {"%REQ(x-a)%", "%REQ(x-a)%"},
      {"a %DOWNSTREAM_REMOTE_ADDRESS%;b", "%DOWNSTREAM_REMOTE_ADDRESS%"},
      {"/users/{id}/x", "{id}"},
      {"a {http.request.header.X-Foo} b", "{http.request.header.X-Foo}"},
  }));
  CAPTURE(text);
  CHECK(foreign_variable_in(text) == variable);
}

TEST_CASE("a text that only looks like a variable is none") {
  const auto* const text =
      GENERATE("", "$", "a$", "$$", "from $5 a month", "US$10", "${HOST}", "${HOST:-a}", "$${host}",
               "script-src 'nonce-r4nd0m$abc'", "p$ssw0rd", "{ }", "{}", "{", "{\"json\":1}",
               "{\"$schema\":\"https://a.example/\"}", "{a, b}", "{3}", "/a%20b", "/%E2%82%AC",
               "%ABC%20", "100%", "50% OFF 20%", "%d/%b/%Y", "%REQ(x", "%AB%", "%");
  CAPTURE(text);
  CHECK(foreign_variable_in(text).empty());
}

}  // namespace
}  // namespace weir::config
