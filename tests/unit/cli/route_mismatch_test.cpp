#include "cli/route_mismatch.hpp"

#include <vector>

#include "catch.hpp"

namespace {

using weir::cli::mismatch;
namespace http = weir::http;
namespace routing = weir::routing;

routing::Match match() {
  return {.host = "*.example.com",
          .path = *routing::PathPattern::parse("/v1/*"),
          .methods = {"GET", "PUT"},
          .headers = {{"x-beta", "secret"}}};
}

struct Sent {
  std::string method = "GET";
  std::string host = "api.example.com";
  std::string path = "/v1/a";
  std::vector<http::FieldView> fields{{.name = "X-Beta", .value = "secret"}};
};

std::optional<std::string> reason(const Sent& sent, const routing::Match& of = match(),
                                  const weir::config::Written& written = {}) {
  const http::RequestView request{
      .method = sent.method, .path = sent.path, .host = sent.host, .fields = sent.fields};
  return mismatch(of, request, {.text = sent.path}, written, "routes[0].match");
}

}  // namespace

TEST_CASE("the first part that does not match is named") {
  CHECK(reason({}) == std::nullopt);
  CHECK(reason({.host = "example.com"}) == "host is not *.example.com");
  CHECK(reason({.method = "POST"}) == "method is none of GET, PUT");
  CHECK(reason({.fields = {}}) == "header x-beta is absent");
  CHECK(reason({.fields = {{.name = "x-beta", .value = "1"}}}) ==
        "header x-beta has another value");
  CHECK(reason({.path = "/v1/a/b"}) == "path does not match /v1/*");
  CHECK(reason({.method = "POST", .host = "b", .path = "/"}) == "host is not *.example.com");
  CHECK(reason({.method = "HEAD"}) == std::nullopt);  // GET includes HEAD
  auto one_method = match();
  one_method.methods = {"GET"};
  CHECK(reason({.method = "POST"}, one_method) == "method is not GET");
  CHECK(reason({}, {}) == std::nullopt);
}

TEST_CASE("a value from a variable is shown as the configuration has it") {
  weir::config::Written written;
  written.add("routes[0].match.host", "*.${DOMAIN}");
  written.add("routes[0].match.path", "${PATH_OF_IT}");
  written.add("routes[0].match.methods[1]", "${METHOD}");
  CHECK(reason({.host = "b"}, match(), written) == "host is not *.${DOMAIN}");
  CHECK(reason({.path = "/"}, match(), written) == "path does not match ${PATH_OF_IT}");
  CHECK(reason({.method = "POST"}, match(), written) == "method is none of GET, ${METHOD}");
}
