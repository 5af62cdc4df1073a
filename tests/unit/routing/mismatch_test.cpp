#include "routing/mismatch.hpp"

#include <deque>
#include <string>
#include <vector>

#include "catch.hpp"
#include "unit/http/request_of.hpp"

namespace weir::routing {
namespace {

/// Routes, and the result of finding the routes of one request.
struct Explained {
  Route& add(const char* path = nullptr) {
    Route& route = routes.emplace_back();
    if (path != nullptr) route.match.path = PathPattern::parse(path).value();
    return route;
  }
  void find(const http::RequestOf& request) {
    std::vector<RouteTable::Entry> entries;
    for (const Route& route : routes)
      entries.push_back({.match = &route.match, .decides = route.decide});
    const RouteTable table(std::move(entries), {});
    REQUIRE_FALSE(find_routes(table, request.view,
                              {.is_trusted = true, .client = IpAddress::v4({192, 0, 2, 7})},
                              routed));
  }
  /// In words; empty: it is a candidate.
  std::string why(std::size_t number) {
    const auto mismatch = why_skipped(routes[number], number, routed);
    return mismatch ? describe(*mismatch, MatchTexts(routes[number].match)) : "";
  }

  std::deque<Route> routes;
  RoutedRequest routed;
};

http::RequestOf& asked(http::RequestOf& request, std::string_view path) {
  request.view.host = "api.example.com";
  request.view.path = request.view.target = path;
  return request;
}

}  // namespace

TEST_CASE("the first condition that fails is named, with the text of the configuration") {
  Explained explained;
  Route& hosted = explained.add("/other");
  hosted.match.host = "*.example.org";
  explained.add("/v2/**").match.methods = {"POST"};
  Route& method = explained.add("/v1/**");
  method.match.methods = {"POST", "PUT", "DELETE"};
  method.match.headers = {{"X-Beta", "1"}};
  explained.add("/v1/{id}").match.methods = {"POST"};
  explained.add().match.headers = {{"X-Beta", "1"}, {"x-absent", "a-secret"}};
  explained.add().match.headers = {{"x-absent", "a-secret"}, {"X-Beta", "1"}};
  explained.add().match.headers = {{"x-beta", "a-secret"}};
  explained.add("/**");
  http::RequestOf request{{{"x-beta", "1"}}};
  explained.find(asked(request, "/v1/7"));
  CHECK(explained.why(0) == "host does not match *.example.org");
  CHECK(explained.why(1) == "path does not match /v2/**");
  CHECK(explained.why(2) == "method is not POST, PUT or DELETE");
  CHECK(explained.why(3) == "method is not POST");
  CHECK(explained.why(4) == "header x-absent is missing");
  CHECK(explained.why(5) == "header x-absent is missing");
  CHECK(explained.why(6) == "header x-beta has another value");
  CHECK(explained.why(7).empty());
}

TEST_CASE(
    "a route that matches comes after the one that takes the request, or matches another reading") {
  Explained explained;
  explained.add("/a");
  explained.add("/a");
  http::RequestOf request{{}};
  explained.find(asked(request, "/a"));
  CHECK(explained.why(0).empty());
  CHECK(explained.why(1) == "an earlier route takes the request");
  explained.find(asked(request, "/A"));
  CHECK(explained.why(0) == "matches another spelling of the path only");
  explained.add("/**");
  explained.find(asked(request, "/A"));
  CHECK(explained.why(0).empty());  // a candidate: its limits apply
  CHECK(explained.why(1) == "an earlier route takes the request");
}

TEST_CASE("a route that decides is compared with the original request, if that was read") {
  Explained explained;
  explained.add("/ask");
  explained.add("/v1/**").decide = true;
  explained.add("/v2/**").decide = true;
  http::RequestOf request{{{"Host", "weir"}, {"X-Original-URI", "/v2/x"}}};
  explained.find(asked(request, "/v1/x"));
  CHECK(explained.why(0) == "path does not match /ask");
  CHECK(explained.why(1) == "path does not match /v1/**");
  CHECK(explained.why(2).empty());
  explained.find(asked(request, "/ask"));
  CHECK(explained.why(1) == "an earlier route takes the request");
}

TEST_CASE("the list that does not contain the client is named") {
  const auto list_of = [](const char* name, const char* prefix) {
    return AddressList(name, PrefixTable({IpPrefix::parse(prefix).value()}));
  };
  Explained explained;
  explained.add("/a").match.address = list_of("office", "198.51.100.0/24");
  explained.add("/a").match.address = list_of("crawlers", "192.0.2.0/24");
  Route& decides = explained.add("/b");
  decides.decide = true;
  decides.match.address = list_of("office", "198.51.100.0/24");
  http::RequestOf request{{{"Host", "weir"}, {"X-Original-URI", "/b"}}};
  explained.find(asked(request, "/a"));
  CHECK(explained.why(0) == "client address is not in office");
  CHECK(explained.why(1).empty());
  explained.find(asked(request, "/x"));
  CHECK(explained.why(2) == "client address is not in office");
}

TEST_CASE("a request without a host fails no host condition") {
  Explained explained;
  explained.add("/a").match.host = "a";
  http::RequestOf request{{}};
  request.view.path = "/b";
  explained.find(request);
  CHECK(explained.why(0) == "path does not match /a");
}

}  // namespace weir::routing
