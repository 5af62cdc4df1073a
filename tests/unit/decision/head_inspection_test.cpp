// Turns the bytes of a head of HTTP/1 into a request that can be routed: its parts, and the reasons
// to refuse it.
#include "decision/head_inspection.hpp"

#include "catch.hpp"
#include "http/head_parser.hpp"
#include "unit/decision/configuration.hpp"

namespace weir::decision {
namespace {

/// A configuration with an identity in X-Key and one trusted proxy, 192.0.2.9.
test::Configuration inspection_settings() {
  test::Configuration inspection_settings;
  inspection_settings.limiter.identities.push_back(
      {.name = "key", .source = {identity::FromHeader{"x-key"}}});
  inspection_settings.proxy.client_address.trusted_proxies = {IpPrefix::parse("192.0.2.9").value()};
  inspection_settings.proxy.downstream.max_body = 100;
  inspection_settings.proxy.downstream.max_target = 20;
  return inspection_settings;
}

struct Inspected {
  explicit Inspected(std::string its_head,
                     const test::Configuration& config = inspection_settings())
      : head(std::move(its_head)) {
    request.peer = request.client = IpAddress::v4({192, 0, 2, 9});
    refusal = inspect_head(RequestRules(config.proxy, config.limiter), head, request);
  }
  int status() const { return refusal ? refusal->status : 0; }

  std::string head;
  http::ReceivedRequest request;
  std::optional<http::Refusal> refusal;
};

const std::string host = "Host: a.example:81\r\n";

TEST_CASE("an acceptable head becomes a request") {
  const Inspected found("POST /a?b HTTP/1.1\r\n" + host +
                        "X-Forwarded-For: 198.51.100.7\r\nContent-Length: 7\r\n\r\n");
  REQUIRE_FALSE(found.refusal);
  const http::ReceivedRequest& request = found.request;
  CHECK(request.view.method == "POST");
  CHECK(request.view.path == "/a");
  CHECK(request.view.query == "b");
  CHECK(request.view.host == "a.example");
  CHECK(request.view.version_minor == 1);
  CHECK(request.view.fields.size() == 3);
  CHECK(request.is_framed);
  CHECK(request.framing == http::Framing{http::Framing::Kind::length, 7});
  CHECK(request.keep_alive);
  CHECK(request.client == IpAddress::v4({198, 51, 100, 7}));
}

TEST_CASE("a head is refused for the first of these reasons") {
  struct Row {
    int status;
    std::string head;
  };
  const std::string line = "POST / HTTP/1.1\r\n";
  const Row rows[] = {
      {0, line + host + "Content-Length: 100\r\n\r\n"},
      {400, "POST /\r\n\r\n"},
      {505, "POST / HTTP/2.0\r\n" + host + "\r\n"},
      {0, "GET /2345678901234567890 HTTP/1.1\r\n" + host + "\r\n"},
      {414, "GET /23456789012345678901 HTTP/1.1\r\n" + host + "\r\n"},
      {400, "GET /\\ HTTP/1.1\r\n" + host + "\r\n"},
      {405, "TRACE / HTTP/1.1\r\n" + host + "\r\n"},
      {400, "get / HTTP/1.1\r\n" + host + "\r\n"},
      {400, line + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n"},
      {501, line + host + "Transfer-Encoding: gzip, chunked\r\n\r\n"},
      {413, line + host + "Content-Length: 101\r\n\r\n"},
      // A field used as an identity must appear once, and under its own name.
      {400, line + host + "X-Key: 1\r\nX-Key: 1\r\n\r\n"},
      {400, line + host + "X_Key: 1\r\n\r\n"},
  };
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    CAPTURE(i);
    CHECK(Inspected(rows[i].head).status() == rows[i].status);
  }
}

TEST_CASE("a target that is too long is not set") {
  const Inspected found("GET /23456789012345678901 HTTP/1.1\r\n" + host + "\r\n");
  CHECK(found.refusal == http::target_too_long);
  CHECK(found.request.view.method == "GET");
  CHECK(found.request.view.target.empty());
  CHECK(found.request.view.fields.size() == 1);
}

TEST_CASE("the start of the next request is unknown after a head whose body is") {
  CHECK_FALSE(Inspected("POST /\r\n\r\n").request.keep_alive);
  CHECK_FALSE(
      Inspected("POST / HTTP/1.1\r\n" + host + "Content-Length: x\r\n\r\n").request.is_framed);
  const Inspected large("POST / HTTP/1.1\r\n" + host + "Content-Length: 101\r\n\r\n");
  CHECK_FALSE(large.request.keep_alive);
  const Inspected repeated("GET / HTTP/1.1\r\n" + host + "X-Key: 1\r\nX-Key: 2\r\n\r\n");
  CHECK(repeated.request.keep_alive);
}

TEST_CASE("Connection removes no field that identifies a client") {
  const Inspected found("GET / HTTP/1.1\r\n" + host + "Connection: x-key, x-hop\r\n\r\n");
  REQUIRE_FALSE(found.refusal);
  CHECK_FALSE(found.request.connection.name("x-key"));
  CHECK(found.request.connection.name("x-hop"));
}

TEST_CASE("an upgrade is offered by a request of HTTP/1.1 without a body") {
  const auto [line, fields, offer] = GENERATE(table<std::string, std::string, std::string>({
      {"GET / HTTP/1.1\r\n", "Connection: upgrade\r\nUpgrade: websocket\r\n", "websocket"},
      {"GET / HTTP/1.1\r\n", "Upgrade: websocket\r\n", ""},
      {"GET / HTTP/1.0\r\n", "Connection: upgrade\r\nUpgrade: websocket\r\n", ""},
      {"GET / HTTP/1.1\r\n", "Connection: upgrade\r\nUpgrade: x\r\nContent-Length: 1\r\n", ""},
  }));
  CAPTURE(line, fields);
  const Inspected found(line + host + fields + "\r\n");
  REQUIRE_FALSE(found.refusal);
  CHECK(found.request.upgrade == offer);
}

TEST_CASE("a head that is too large is refused by the part that is too long") {
  options::Downstream downstream;
  downstream.max_head = 64;
  const std::string many(100, 'a');
  CHECK_FALSE(refuse_large_head(downstream, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  CHECK(refuse_large_head(downstream, "GET / HTTP/1.1\r\nX: " + many) == http::head_too_large);
  CHECK(refuse_large_head(downstream, "GET /" + many) == http::target_too_long);
  CHECK(refuse_large_head(downstream, many) == http::method_too_long);
  CHECK(refuse_large_head(downstream, "GET / " + many) == http::head_malformed);
}

}  // namespace
}  // namespace weir::decision
