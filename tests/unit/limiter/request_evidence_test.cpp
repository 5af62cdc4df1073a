#include "limiter/request_evidence.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "unit/http/request_of.hpp"

namespace weir::limiter {
namespace {

struct LimitedRoute : routing::Route {
  std::vector<Limit> limits{};
};

/// Routes, and the evidence that one request gives them.
struct Gathered {
  void add(const char* path, std::size_t limits, bool decide = false) {
    auto& route = routes.emplace_back();
    route.match.path = routing::PathPattern::parse(path).value();
    route.decide = decide;
    route.limits.resize(limits);
  }
  std::span<const RouteEvidence> gather(const http::RequestOf& request, bool is_trusted = false) {
    std::vector<routing::RouteTable::Entry> entries;
    for (const auto& route : routes)
      entries.push_back({.match = &route.match, .decides = route.decide});
    const routing::RouteTable table(std::move(entries), variants);
    REQUIRE_FALSE(routing::find_routes(table, request.view, {.is_trusted = is_trusted}, routed));
    evidence.gather(routed, std::span<const LimitedRoute>(routes),
                    {.address = client, .settings = settings, .path_variants = variants});
    return evidence.routes();
  }

  std::vector<LimitedRoute> routes;
  routing::PathVariants variants{.letter_case = false};
  identity::ClientAddressOptions settings;
  IpAddress client;
  routing::RoutedRequest routed;
  RequestEvidence evidence;
};

}  // namespace

TEST_CASE("each candidate has its limits, its reading of the path and its captures") {
  Gathered gathered;
  gathered.add("/users/{id}/{part}", 2);
  gathered.add("/users/**", 1);
  http::RequestOf request{{}};
  request.view.path = "/users/%41nna/photos/";
  const auto routes = gathered.gather(request);
  REQUIRE(routes.size() == 2);
  CHECK(routes[0].limits.size() == 1);
  CHECK(routes[0].evidence.path == "/users/Anna/photos/");
  CHECK(routes[0].evidence.path_parameters.empty());
  CHECK(&routes[0].evidence.client == &gathered.client);
  CHECK_FALSE(routes[0].evidence.path_ignores_case);
  CHECK(routes[0].evidence.path_ignores_trailing_slash);
  CHECK(routes[1].limits.size() == 2);
  const auto parameters = routes[1].evidence.path_parameters;
  REQUIRE(parameters.size() == 2);
  CHECK(parameters[0].name == "id");
  CHECK(parameters[0].value == "Anna");
  CHECK(parameters[1].name == "part");
  CHECK(parameters[1].value == "photos");
}

TEST_CASE("a route that decides gives evidence of the original request") {
  Gathered gathered;
  gathered.add("/**", 1, true);
  http::RequestOf question{{{"Host", "weir"}, {"X-Original-URI", "/a?key=1"}}};
  question.view.path = question.view.target = "/auth";
  const auto trusted = gathered.gather(question, true);
  REQUIRE(trusted.size() == 1);
  CHECK(trusted[0].evidence.request.query == "key=1");
  CHECK(trusted[0].evidence.path == "/a");
  CHECK(gathered.gather(question)[0].evidence.request.path == "/auth");
}

TEST_CASE("there is no evidence where no candidate has limits, and all of it where one has") {
  Gathered gathered;
  gathered.add("/a", 1);
  gathered.add("/**", 0);
  http::RequestOf request{{}};
  request.view.path = "/b";
  CHECK(gathered.gather(request).empty());
  request.view.path = "/a/";
  CHECK(gathered.gather(request).size() == 2);
}

}  // namespace weir::limiter
