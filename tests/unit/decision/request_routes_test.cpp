#include "decision/request_routes.hpp"

#include "catch.hpp"
#include "decision/head_inspection.hpp"
#include "unit/decision/configuration.hpp"

namespace weir::decision {
namespace {

options::Route route_to(const std::string& path, std::size_t limits = 0) {
  options::Route route;
  route.name = path;
  route.match.path = routing::PathPattern::parse(path).value();
  route.limits.resize(limits);
  return route;
}

test::Configuration route_settings() {
  test::Configuration route_settings;
  route_settings.limiter.identities.push_back(
      {.name = "client", .source = {identity::FromClientAddress{}}});
  route_settings.limiter.policies.emplace_back();
  route_settings.proxy.routes = {route_to("/limited", 1), route_to("/free"),
                                 route_to("/Limited", 1), route_to("/decide"), route_to("/host")};
  route_settings.proxy.routes[3].decide = true;
  route_settings.proxy.routes[4].match.host = "a.example";
  return route_settings;
}

/// The routes of consecutive requests, as an exchange uses them.
struct Found {
  std::optional<http::Refusal> find(const std::string& request_line,
                                    const std::string& fields = "Host: a\r\n") {
    head = request_line + "\r\n" + fields + "\r\n";
    request.clear();
    routes.clear();
    REQUIRE_FALSE(inspect_head(rules, head, request));
    return routes.find(rules, request);
  }

  const test::Configuration config = route_settings();
  const RequestRules rules{config.proxy, config.limiter};
  std::string head;
  http::ReceivedRequest request;
  RequestRoutes routes;
};

TEST_CASE("a request has the route that matches it, and evidence if it is limited") {
  Found found;
  CHECK(found.routes.route() == nullptr);
  CHECK_FALSE(found.find("GET /limited HTTP/1.1"));
  REQUIRE(found.routes.route() == &found.config.proxy.routes[0]);
  REQUIRE(found.routes.evidence().size() >= 1);
  CHECK(found.routes.evidence()[0].limits.data() == found.config.proxy.routes[0].limits.data());
  // The next request starts without any of its data.
  CHECK_FALSE(found.find("GET /free HTTP/1.1"));
  CHECK(found.routes.route() == &found.config.proxy.routes[1]);
  CHECK(found.routes.evidence().empty());
}

TEST_CASE("a request that no route matches is 404, and has none") {
  Found found;
  CHECK_FALSE(found.find("GET /free HTTP/1.1"));
  const auto refusal = found.find("GET /none HTTP/1.1");
  REQUIRE(refusal);
  CHECK(refusal->status == 404);
  CHECK(found.routes.route() == nullptr);
}

TEST_CASE("a path that has no single structure is 400, and so is a missing host") {
  const auto [line, fields] = GENERATE(table<std::string, std::string>({
      {"GET /a%2Fb HTTP/1.1", "Host: a\r\n"},
      {"GET /host HTTP/1.0", ""},
  }));
  CAPTURE(line);
  Found found;
  const auto refusal = found.find(line, fields);
  REQUIRE(refusal);
  CHECK(refusal->status == 400);
  CHECK(found.routes.route() == nullptr);
}

TEST_CASE("the routes of other readings are candidates, of which a refusal may choose one") {
  Found found;
  CHECK_FALSE(found.find("GET /Limited HTTP/1.1"));
  REQUIRE(found.routes.route() == &found.config.proxy.routes[2]);
  REQUIRE(found.routes.evidence().size() == 2);
  found.routes.choose(found.config.proxy, 1);
  CHECK(found.routes.route() == &found.config.proxy.routes[0]);
}

TEST_CASE("a route that decides is matched with the request that a trusted peer describes") {
  Found found;
  const std::string original = "Host: a\r\nX-Forwarded-Method: PUT\r\nX-Forwarded-Uri: /decide\r\n";
  found.request.peer_is_trusted = true;
  CHECK_FALSE(found.find("GET /decide HTTP/1.1", original));
  CHECK(found.routes.route() == &found.config.proxy.routes[3]);
  CHECK(found.routes.routed().original.request.method == "PUT");
}

}  // namespace
}  // namespace weir::decision
