// Turns the head of a request of HTTP/2 into a request that can be routed, or refuses it.
#include "decision/header_list_inspection.hpp"

#include "catch.hpp"
#include "unit/decision/configuration.hpp"

namespace weir::decision {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// A configuration with an identity in X-Key and one trusted proxy, 192.0.2.9.
test::Configuration list_settings() {
  test::Configuration settings;
  settings.limiter.identities.push_back({.name = "key", .source = {identity::FromHeader{"x-key"}}});
  settings.proxy.client_address.trusted_proxies = {IpPrefix::parse("192.0.2.9").value()};
  settings.proxy.downstream.max_body = 100;
  settings.proxy.downstream.max_target = 20;
  return settings;
}

struct InspectedList {
  explicit InspectedList(const Pairs& pairs, bool has_body = false) {
    head.begin(4096);
    for (const auto& [name, value] : pairs)
      head.add(name, value);
    request.peer = request.client = IpAddress::v4({192, 0, 2, 9});
    const test::Configuration config = list_settings();
    refusal =
        inspect_header_list(RequestRules(config.proxy, config.limiter), head, has_body, request);
  }
  int status() const { return refusal ? refusal->status : 0; }

  http::HeaderList head;
  http::ReceivedRequest request;
  std::optional<http::Refusal> refusal;
};

Pairs get(const Pairs& more, const std::string& path = "/") {
  Pairs all{{":method", "GET"}, {":scheme", "http"}, {":path", path}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

const std::pair<std::string, std::string> authority{":authority", "a.example:81"};

TEST_CASE("an acceptable list becomes a request of HTTP/2") {
  const InspectedList found(get({authority,
                                 {"x-forwarded-for", "198.51.100.7"},
                                 {"content-length", "7"},
                                 {"te", "trailers"}},
                                "/a?b"),
                            true);
  REQUIRE_FALSE(found.refusal);
  const http::ReceivedRequest& request = found.request;
  CHECK(request.view.method == "GET");
  CHECK(request.view.path == "/a");
  CHECK(request.view.query == "b");
  CHECK(request.view.host == "a.example");
  CHECK(request.view.authority == "a.example:81");
  CHECK(request.view.version_major == 2);
  CHECK(request.framing == http::Framing{http::Framing::Kind::length, 7});
  CHECK(request.client == IpAddress::v4({198, 51, 100, 7}));
  CHECK(request.connection.name("te"));
  CHECK(request.upgrade.empty());
}

TEST_CASE("a body without a length is framed by its stream") {
  CHECK(InspectedList(get({authority}), false).request.framing.kind == http::Framing::Kind::none);
  CHECK(InspectedList(get({authority}), true).request.framing.kind == http::Framing::Kind::chunked);
  CHECK(InspectedList(get({authority, {"content-length", "0"}}), false).request.framing ==
        http::Framing{http::Framing::Kind::length, 0});
}

Pairs connect(const std::string& protocol, const Pairs& more = {}) {
  Pairs all{{":method", "CONNECT"}, {":protocol", protocol}, {":scheme", "http"}, {":path", "/a"}};
  all.push_back(authority);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST_CASE("an extended CONNECT is the GET of a WebSocket, whose stream has no body") {
  const InspectedList found(connect("websocket", {{"sec-websocket-version", "13"}}), true);
  REQUIRE_FALSE(found.refusal);
  CHECK(found.request.view.method == "GET");
  CHECK(found.request.view.path == "/a");
  CHECK(found.request.upgrade == "websocket");
  CHECK_FALSE(found.request.has_body());
  CHECK(InspectedList(connect("connect-udp")).status() == 501);
  CHECK(InspectedList(connect("websocket", {{"content-length", "5"}}), true).status() == 400);
}

TEST_CASE("the authority becomes the first and only Host") {
  struct Row {
    Pairs fields;
    std::string host;
  };
  const Row rows[] = {
      {{authority, {"a", "1"}}, "a.example:81"},
      {{authority, {"a", "1"}, {"host", "A.example:81"}}, "a.example:81"},
      {{{"a", "1"}, {"host", "b.example"}}, "b.example"},
      {{{":authority", "a.example:80"}, {"host", "a.example"}}, "a.example:80"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.host);
    const InspectedList found(get(row.fields));
    REQUIRE_FALSE(found.refusal);
    const auto fields = found.request.view.fields;
    CHECK(fields.front().name == "host");
    CHECK(fields.front().value == row.host);
    CHECK(std::ranges::count(fields, http::FieldId::host, &http::FieldView::id) == 1);
    CHECK(found.request.view.authority == row.host);
  }
}

TEST_CASE("a list is refused for these reasons") {
  struct Row {
    int status;
    Pairs pairs;
  };
  const Row rows[] = {
      {0, get({authority})},
      {400, get({})},
      {400, get({{"host", ""}})},
      {400, get({authority, {"host", "b.example"}})},
      {400, get({authority, {"host", "a.example:81"}, {"host", "a.example:81"}})},
      {400, get({{":authority", "user@a.example"}})},
      {400, {{":method", "GET"}, {":scheme", "ftp"}, {":path", "/"}, authority}},
      {400, {{":method", "G T"}, {":scheme", "http"}, {":path", "/"}, authority}},
      {400, {{":method", ""}, {":scheme", "http"}, {":path", "/"}, authority}},
      {400, {{":method", "get"}, {":scheme", "http"}, {":path", "/"}, authority}},
      {405, {{":method", "CONNECT"}, authority}},
      {405, {{":method", "TRACE"}, {":scheme", "http"}, {":path", "/"}, authority}},
      {0, {{":method", "OPTIONS"}, {":scheme", "http"}, {":path", "*"}, authority}},
      {400, get({authority}, "*")},
      {400, get({authority}, "a")},
      {400, get({authority}, "?a")},
      {400, get({authority}, "http://b.example/")},
      {400, get({authority}, "/a b")},
      {400, get({authority}, "/\\")},
      {414, get({authority}, "/23456789012345678901")},
      {413, get({authority, {"content-length", "101"}})},
      {400, get({authority, {"content-length", "1"}, {"content-length", "1"}})},
      {400, get({authority, {"connection", "close"}})},
      {400, get({authority, {"transfer-encoding", "chunked"}})},
      {400, get({authority, {"upgrade", "websocket"}})},
      {400, get({authority, {"keep-alive", "5"}})},
      {400, get({authority, {"proxy-connection", "close"}})},
      {400, get({authority, {"te", "trailers, gzip"}})},
      {431, get({authority, {"a", std::string(5000, 'a')}})},
      // A field used as an identity must appear once, and under its own name.
      {400, get({authority, {"x-key", "1"}, {"x-key", "1"}})},
      {400, get({authority, {"x_key", "1"}})},
  };
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    CAPTURE(i);
    CHECK(InspectedList(rows[i].pairs).status() == rows[i].status);
  }
}

}  // namespace
}  // namespace weir::decision
