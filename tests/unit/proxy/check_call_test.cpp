// Check of ext_authz: from its message to the request, through the phases of an exchange, and to
// its answer.
#include "proxy/check_call.hpp"

#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "decision/header_list_inspection.hpp"
#include "grpc/protobuf_writer.hpp"
#include "proxy/grpc_message.hpp"
#include "rls/messages.hpp"
#include "unit/http/lines_of.hpp"
#include "unit/proxy/exchanged.hpp"

namespace weir::proxy::test {
namespace {

/// The request that a message describes.
struct DescribedRequest {
  std::string method = "GET";
  std::string path = "/limited?a=b";
  std::string host = "api.example";
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string source = "198.51.100.7";  ///< empty: none
};

std::string check_message(const DescribedRequest& described) {
  using grpc::ProtobufWriter;
  std::string message;
  ProtobufWriter(message).message(1, [&](ProtobufWriter& attributes) {
    if (!described.source.empty()) {
      attributes.message(1, [&](ProtobufWriter& peer) {
        peer.message(1, [&](ProtobufWriter& address) {
          address.message(1, [&](ProtobufWriter& socket) { socket.text(2, described.source); });
        });
      });
    }
    attributes.message(4, [&](ProtobufWriter& request) {
      request.message(2, [&](ProtobufWriter& http) {
        http.text(2, described.method);
        for (const auto& [name, value] : described.headers) {
          http.message(3, [&](ProtobufWriter& entry) { entry.text(1, name).bytes(2, value); });
        }
        http.text(4, described.path).text(5, described.host);
      });
    });
  });
  return message;
}

std::string framed(std::string_view message) {
  std::string body;
  begin_grpc_message(body);
  body += message;
  end_grpc_message(body);
  return body;
}

/// An exchange whose client calls Check.
class CheckedExchange : public Exchanged {
 public:
  using Exchanged::Exchanged;

  /// Serves a call; returns its line in the access log.
  std::string check(const DescribedRequest& described, bool is_trusted = true) {
    return call(framed(check_message(described)), is_trusted);
  }
  std::string call(std::string body, bool is_trusted = true) {
    has_ended = false;
    client.responder.begin_request();
    ClientSide side = client.side;
    side.serves = options::Serves::rate_limit_service;
    exchange.begin(side);
    auto& request = exchange.request();
    request.peer = request.client = IpAddress::v4({192, 0, 2, 1});
    request.peer_is_trusted = is_trusted;
    list_ = {};
    list_.begin(4096);
    list_.add(":method", "POST");
    list_.add(":scheme", "http");
    list_.add(":authority", "weir");
    list_.add(":path", check_path);
    list_.add("content-type", "application/grpc");
    list_.add("te", "trailers");
    list_.add("x-key", "of the call");
    REQUIRE_FALSE(
        decision::inspect_header_list(*exchange.generation().request_rules, list_, true, request));
    request.is_grpc_call = true;
    client.body.begin(true);
    client.body.arrive(std::move(body));
    client.body.end();
    loop::spawn(world.io, note_end(exchange.serve(), has_ended));
    world.poll();
    std::string line = finish();
    exchange.release();
    return line;
  }
  /// True if the response is this message.
  bool was_answered(const rls::CheckResponse& expected) const {
    std::string message;
    rls::append_protobuf(message, expected);
    return response().status == 200 && response().content_type == "application/grpc" &&
           response().body == framed(message);
  }
  /// The HTTP status of a denial; 0: there is another answer.
  int denied() const {
    for (int status = 300; status < 600; ++status) {
      // DeniedHttpResponse, which begins with its HttpStatus of one number.
      const std::string part = {'\x0a', '\x03', '\x08', static_cast<char>(0x80 | (status & 0x7f)),
                                static_cast<char>(status >> 7)};
      if (holds(response().body, part)) return status;
    }
    return 0;
  }

 private:
  http::HeaderList list_;
};

}  // namespace

TEST_CASE("the request of a Check is decided by its own method, path, host and fields") {
  CheckedExchange checked;
  const std::string line = checked.check({.headers = {{":path", "/fixed"},
                                                      {":method", "PUT"},
                                                      {":authority", "other.example"},
                                                      {"X-KEY", "Ann"},
                                                      {"user-agent", "test"}}});
  CHECK(holds(line, R"("method":"GET","path":"/limited","route":"limited")"));
  CHECK(holds(line, R"("status":200)"));
  CHECK(holds(line, R"("decision":"allowed","policy":"one")"));
  CHECK(holds(line, R"("user_agent":"test")"));
  CHECK(holds(line, R"("client":"198.51.100.7")"));
  CHECK(checked.denied() == 0);
  CHECK(holds(checked.response().body, "RateLimit-Policy"));
  CHECK(holds(checked.response().body, R"("one";r=0;t=3600)"));
  CHECK(checked.counted(limited, 200) == 1);
  CHECK(checked.store.settle_calls == 1);
}

TEST_CASE("names of a Check's fields are read in lower case") {
  CheckedExchange checked;
  checked.check({.path = "/strict", .headers = {{"X-KEY", "Ann"}}});
  CHECK(checked.denied() == 0);
  checked.check({.path = "/strict"});
  CHECK(checked.denied() == 401);  // the field of the call itself does not count
}

TEST_CASE("a Check that describes no valid request is denied, because clients can cause that") {
  const auto [described, status] = GENERATE(table<DescribedRequest, int>({
      {{.method = ""}, 400},
      {{.path = ""}, 400},
      {{.method = "GE T"}, 400},
      {{.path = "relative"}, 400},
      {{.path = "/a\nb"}, 400},
      {{.path = "/a\xff"}, 400},
      {{.host = ""}, 400},
      {{.host = "a b"}, 400},
      {{.headers = {{"", "value"}}}, 400},
      {{.headers = {{"na me", "value"}}}, 400},
      {{.headers = {{"name", "a\r\nb"}}}, 400},
      {{.headers = {{"name", std::string("a\0b", 3)}}}, 400},
      {{.headers = {{"host", "other.example"}}}, 400},
      {{.headers = {{"name", std::string(70'000, 'x')}}}, 431},
      {{.path = "/" + std::string(20'000, 'x')}, 414},
  }));
  CAPTURE(described.method, described.path, described.host, status);
  CheckedExchange checked;
  checked.check(described);
  CHECK(checked.denied() == status);
  CHECK(checked.response().fields.empty());
  CHECK(checked.store.questions == 0);
  CHECK(checked.counted(unrouted, status) == 1);
}

TEST_CASE("a Check with too many fields is denied") {
  CheckedExchange checked;
  DescribedRequest described;
  for (int i = 0; i < 300; ++i)
    described.headers.emplace_back("x-" + std::to_string(i), "v");
  checked.check(described);
  CHECK(checked.denied() == 400);
}

TEST_CASE("a call of Check without a message fails") {
  using namespace std::string_literals;
  const auto [body, status] = GENERATE(table<std::string, std::string>({
      {"\0\0"s, "Grpc-Status: 3\r\n"},
      {framed(""), "Grpc-Status: 3\r\n"},
      {"\1\0\0\0\1m"s, "Grpc-Status: 12\r\n"},
      {"\0\0\0\0\5m"s, "Grpc-Status: 3\r\n"},
  }));
  CheckedExchange checked;
  checked.call(body);
  CHECK(holds(checked.response().fields, status));
  CHECK(checked.response().body.empty());
}

TEST_CASE("fields about the client's connection, and about other requests, have no meaning") {
  CheckedExchange checked([](Configuration& settings) {
    settings.proxy.routes[limited].decide = true;
    settings.proxy.client_address.trusted_proxies = {IpPrefix::parse("198.51.100.0/24").value()};
  });
  const std::string line = checked.check({.headers = {{"connection", "Upgrade"},
                                                      {"upgrade", "websocket"},
                                                      {"te", "gzip"},
                                                      {"transfer-encoding", "chunked"},
                                                      {"keep-alive", "5"},
                                                      {"proxy-connection", "close"},
                                                      {"x-original-uri", "/fixed"},
                                                      {"x-original-method", "PUT"},
                                                      {"x-forwarded-uri", "/up"},
                                                      {"x-forwarded-method", "POST"},
                                                      {"x-forwarded-host", "other.example"},
                                                      {"weir-hold", "0123456789abcdef"}}});
  CHECK(checked.denied() == 0);
  CHECK(holds(line, R"("path":"/limited","route":"limited")"));
  CHECK(holds(line, R"("decision":"allowed")"));
}

TEST_CASE("the source of a Check is the client only if a trusted proxy calls") {
  struct Row {
    bool is_trusted;
    std::string source;
    std::string forwarded_for;
    std::string client;
  };
  const auto row = GENERATE(values<Row>({
      {true, "203.0.113.9", "", "203.0.113.9"},
      {true, "2001:db8::1", "", "2001:db8::1"},
      // The source is not trusted, so what it says about others is not read.
      {true, "203.0.113.9", "203.0.113.1", "203.0.113.9"},
      // The source is trusted: from the right, over trusted addresses.
      {true, "198.51.100.7", "203.0.113.1", "203.0.113.1"},
      {true, "198.51.100.7", "203.0.113.1, 203.0.113.2, 198.51.100.8", "203.0.113.2"},
      // No address: the peer of the call, which is trusted.
      {true, "", "203.0.113.1", "203.0.113.1"},
      {true, "no address", "", "192.0.2.1"},
      {false, "203.0.113.9", "203.0.113.1", "192.0.2.1"},
  }));
  CAPTURE(row.source, row.forwarded_for);
  CheckedExchange checked([&](Configuration& settings) {
    auto& trusted = settings.proxy.client_address.trusted_proxies;
    trusted = {IpPrefix::parse("198.51.100.0/24").value()};
    if (row.is_trusted) trusted.push_back(IpPrefix::parse("192.0.2.1").value());
  });
  DescribedRequest described{.source = row.source};
  if (!row.forwarded_for.empty()) described.headers = {{"x-forwarded-for", row.forwarded_for}};
  const std::string line = checked.check(described, row.is_trusted);
  CHECK(holds(line, R"("client":")" + row.client + '"'));
}

TEST_CASE("the trace of a Check is that of its request, not of the call") {
  CheckedExchange checked([](Configuration& settings) { settings.proxy.tracing.generates = true; });
  const std::string line = checked.check(
      {.headers = {{"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}});
  CHECK(holds(line, R"("trace_id":"4bf92f3577b34da6a3ce929d0e0e4736")"));
}

TEST_CASE("a Check about a HEAD request or a gRPC call is answered as any other") {
  CheckedExchange checked;
  const auto described = GENERATE(values<DescribedRequest>(
      {{.method = "HEAD"}, {.method = "POST", .headers = {{"content-type", "application/grpc"}}}}));
  checked.check(described);
  CHECK(checked.denied() == 0);
  checked.check(described);
  CHECK(checked.denied() == 429);
  CHECK(holds(checked.response().body, "violated-policies"));
}

TEST_CASE("a denial of a Check has the fields and the body of the response to the client") {
  CheckedExchange checked;
  checked.check({});
  const std::string line = checked.check({});
  CHECK(holds(line, R"("status":429)"));
  CHECK(checked.denied() == 429);
  const std::string& body = checked.response().body;
  for (const auto* const part : {"Retry-After", "3600", "Cache-Control", "RateLimit-Policy",
                                 "application/problem+json", R"("violated-policies":["one"])"})
    CHECK(holds(body, part));
  CHECK_FALSE(holds(body, "Content-Length"));
  CHECK_FALSE(holds(body, "Date"));
  CHECK(holds(body, "\x0a\x02\x08\x08"));  // google.rpc.Status with RESOURCE_EXHAUSTED
  CHECK(checked.counted(limited, 429) == 1);
}

TEST_CASE("other denials have their status of HTTP and that of the call") {
  struct Row {
    int http;
    char grpc;
  };
  const auto row =
      GENERATE(values<Row>({{308, 7}, {400, 7}, {401, 16}, {403, 7}, {429, 8}, {503, 7}}));
  CheckedExchange checked(
      [&](Configuration& settings) { settings.proxy.routes[fixed].respond.status = row.http; });
  checked.check({.path = "/fixed"});
  CHECK(checked.denied() == row.http);
  CHECK(holds(checked.response().body, std::string("\x08") + row.grpc));
}

TEST_CASE("the fields of a route are for the upstream of the proxy") {
  CheckedExchange checked([](Configuration& settings) {
    settings.proxy.routes[fixed].respond.fields = {{"X-Tier", "gold"}};
  });
  checked.check({.path = "/fixed"});
  rls::CheckResponse expected;
  expected.request_headers.add("X-Tier", "gold");
  CHECK(checked.was_answered(expected));
}

TEST_CASE("a Check of a route with an upstream is answered, and nothing is forwarded") {
  CheckedExchange checked;
  checked.check({.path = "/up"});
  CHECK(checked.was_answered({}));
}

TEST_CASE("a Check that nothing decides is UNAVAILABLE, but a denial with the status 503 is none") {
  SECTION("the store fails") {
    CheckedExchange checked;
    checked.store.fails_at_once = store::Error::timeout;
    const std::string line = checked.check({});
    CHECK(checked.response().status == 200);
    CHECK(holds(checked.response().fields, "Grpc-Status: 14\r\n"));
    CHECK(checked.response().body.empty());
    CHECK(holds(line, R"("status":503)"));
  }
  SECTION("a denial") {
    CheckedExchange checked(
        [](Configuration& settings) { settings.limiter.policies[0].status = 503; });
    checked.check({});
    checked.check({});
    CHECK(checked.denied() == 503);
  }
}

}  // namespace weir::proxy::test
