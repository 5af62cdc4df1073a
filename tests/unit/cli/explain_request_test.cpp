#include "catch.hpp"
#include "cli/explanation.hpp"

namespace {

using weir::cli::request_head;
using weir::cli::RequestArguments;

std::string problem_of(const RequestArguments& arguments) {
  const auto head = request_head(arguments);
  return head ? "none" : head.error().message;
}

}  // namespace

TEST_CASE("the head of an explained request is what a client sends") {
  const std::vector<std::pair<RequestArguments, std::string>> rows{
      {{.url = "http://api.example.com/v1/search?q=1"},
       "GET /v1/search?q=1 HTTP/1.1\r\nHost: api.example.com\r\n\r\n"},
      // No path, and a fragment, which clients do not send.
      {{.url = "HTTPS://a:8443"}, "GET / HTTP/1.1\r\nHost: a:8443\r\n\r\n"},
      {{.url = "http://a?q#top"}, "GET /?q HTTP/1.1\r\nHost: a\r\n\r\n"},
      {{.url = "http://[2001:db8::1]/"}, "GET / HTTP/1.1\r\nHost: [2001:db8::1]\r\n\r\n"},
      // The path is sent as it is written.
      {{.method = "post", .url = "http://a/x/../%2e//\\"},
       "post /x/../%2e//\\ HTTP/1.1\r\nHost: a\r\n\r\n"},
      // Fields in their order; a Host of one's own.
      {{.url = "http://a/", .fields = {"X-Key: a b ", "x-key:2", "Empty:"}},
       "GET / HTTP/1.1\r\nHost: a\r\nX-Key: a b\r\nx-key: 2\r\nEmpty: \r\n\r\n"},
      {{.url = "http://a/", .fields = {"host: b", "HOST: c"}},
       "GET / HTTP/1.1\r\nhost: b\r\nHOST: c\r\n\r\n"},
  };
  for (const auto& [arguments, expected] : rows) {
    CAPTURE(arguments.url);
    const auto head = request_head(arguments);
    REQUIRE(head.has_value());
    CHECK(*head == expected);
  }
}

TEST_CASE("wrong arguments are rejected with the argument's name, without its value") {
  const std::string url = "URL: expected http://HOST/PATH or https://HOST/PATH";
  CHECK(problem_of({.url = ""}) == url);
  CHECK(problem_of({.url = "/v1/search"}) == url);
  CHECK(problem_of({.url = "ftp://a/"}) == url);
  CHECK(problem_of({.url = "a/"}) == url);
  for (const std::string bad :
       {"http://a/b c", "http://a/\r\nX: y", "http://a/\t", "http://a/\x7f"})
    CHECK(problem_of({.url = bad}) ==
          "URL: it has a space or a control character; write it as %20, %09 and so on");
  for (const std::string bad :
       {"http://", "http:///x", "http://a:b/", "http://a..b/", "http://:80"})
    CHECK(problem_of({.url = bad}) ==
          "URL: its host is not a name or an address with an optional port");
  CHECK(problem_of({.url = "http://user:secret@a/"}) ==
        "URL: it has a user name; send credentials in the field Authorization");
  for (const std::string bad : {"", "G T", "GET\r\n"})
    CHECK(problem_of({.method = bad, .url = "http://a"}) ==
          "--method: expected a method, such as GET");
  for (const std::string bad : {"secret", "", ": secret", "a b: secret", "X-Key : secret"})
    CHECK(problem_of({.url = "http://a", .fields = {bad}}) ==
          "-H: expected 'NAME: VALUE', such as 'X-Api-Key: abc'");
  CHECK(problem_of({.url = "http://a", .fields = {"X-Key: secret\r\nHost: b"}}) ==
        "-H: the value of X-Key has a control character");
}
