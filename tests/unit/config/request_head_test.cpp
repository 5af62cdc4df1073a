// Request heads from a method, a URL and fields.
#include "config/request_head.hpp"

#include <vector>

#include "catch.hpp"

namespace weir::config {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

std::string head_of(std::string_view url, const Fields& fields = {}) {
  return request_head("GET", parse_request_url(url).value(), fields);
}

}  // namespace

TEST_CASE("the head of a request has its target as written, and its fields in their order") {
  CHECK(head_of("http://a.test") == "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n");
  CHECK(head_of("https://a.test:8443/a%2F?b=c#d") ==
        "GET /a%2F?b=c HTTP/1.1\r\nHost: a.test:8443\r\n\r\n");
  CHECK(head_of("http://a.test?b") == "GET /?b HTTP/1.1\r\nHost: a.test\r\n\r\n");
  CHECK(head_of("http://a.test/", {{"X-A", "1"}, {"host", "b"}, {"X-A", "2"}}) ==
        "GET / HTTP/1.1\r\nX-A: 1\r\nhost: b\r\nX-A: 2\r\n\r\n");
}

TEST_CASE("a URL that a request cannot have is a problem, without its text") {
  struct Row {
    std::string_view url;
    std::string_view problem;
  };
  const Row rows[] = {
      {"a.test/", "expected http://HOST/PATH or https://HOST/PATH"},
      {"ftp://a.test/", "expected http://HOST/PATH or https://HOST/PATH"},
      {"http://a.test/a b",
       "it has a space or a control character; write it as %20, %09 and so on"},
      {"http://u:p@a.test/", "it has a user name; send credentials in the field Authorization"},
      {"http://a..:x/", "its host is not a name or an address with an optional port"},
  };
  for (const auto& [url, problem] : rows) {
    CAPTURE(url);
    const auto parsed = parse_request_url(url);
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().message == problem);
  }
}

TEST_CASE("a field needs a name and a value without control characters") {
  CHECK(fault_of_field("x-a", "b\tc").empty());
  CHECK(fault_of_field("x a", "b") == "expected a field name, such as x-api-key");
  CHECK(fault_of_field("x-a", "b\r\nc: d") == "the value of x-a has a control character");
}

}  // namespace weir::config
