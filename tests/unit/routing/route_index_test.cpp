#include "routing/route_index.hpp"

#include <deque>
#include <string>
#include <vector>

#include "catch.hpp"

namespace weir::routing {
namespace {

struct IndexedRoutes {
  void add(const char* path, const char* host = nullptr) {
    Match& match = matches.emplace_back();
    if (path != nullptr) match.path = PathPattern::parse(path).value();
    if (host != nullptr) match.host = host;
    entries.push_back({.route = static_cast<RouteIndex::Route>(entries.size()), .match = &match});
  }
  void add(const std::string& path) { add(path.c_str()); }

  /// The routes that are tried for a request that none of them takes.
  std::vector<RouteIndex::Route> tried(const PathReading& path, std::string_view host = "h") const {
    std::vector<RouteIndex::Route> routes;
    const RouteIndex index(entries);
    const auto end = static_cast<RouteIndex::Route>(entries.size());
    CHECK(index.first(path, host, 0, end, [&](RouteIndex::Route route) {
      routes.push_back(route);
      return false;
    }) == end);
    std::sort(routes.begin(), routes.end());
    return routes;
  }
  std::vector<RouteIndex::Route> tried(std::string_view path, std::string_view host = "h") const {
    return tried(PathReading{.text = path}, host);
  }

  std::deque<Match> matches;
  std::vector<RouteIndex::Entry> entries;
};

using Tried = std::vector<RouteIndex::Route>;
constexpr int many = 10'000;

std::string number(int i) {
  return std::to_string(i);
}

}  // namespace

TEST_CASE("one of many routes with distinct first segments is tried") {
  IndexedRoutes routes;
  for (int i = 0; i < many; ++i)
    routes.add("/svc" + number(i) + "/**");
  CHECK(routes.tried("/svc7/x") == Tried{7});
  CHECK(routes.tried("/svc9999") == Tried{9999});
  CHECK(routes.tried("/svc10000").empty());
  CHECK(routes.tried("/").empty());
  routes.add("/**");
  CHECK(routes.tried("/svc9998/a/b/c") == Tried{9998, 10'000});
}

TEST_CASE("one of many routes that differ in the last segment is tried") {
  IndexedRoutes routes;
  for (int i = 0; i < many; ++i)
    routes.add("/api/{version}/items/i" + number(i));
  CHECK(routes.tried("/api/v1/items/i5000") == Tried{5000});
  CHECK(routes.tried("/api/v1/items/").empty());
  CHECK(routes.tried("/api/v1").empty());
}

TEST_CASE("only the routes of the host are tried among many with distinct hosts") {
  IndexedRoutes routes;
  for (int i = 0; i < many; ++i)
    routes.add(nullptr, ("h" + number(i) + ".example.com").c_str());
  routes.add(nullptr, "*.example.com");
  routes.add(nullptr, "*.com");
  routes.add(nullptr, "*.h1.example.com");
  routes.add("/**");
  CHECK(routes.tried("/a", "H17.Example.com.") == Tried{17, 10'000, 10'001, 10'003});
  CHECK(routes.tried("/a", "x.h1.example.com") == Tried{10'000, 10'001, 10'002, 10'003});
  CHECK(routes.tried("/a", "example.com") == Tried{10'001, 10'003});
  CHECK(routes.tried("/a", "other.org") == Tried{10'003});
  // It may match any host.
  CHECK(routes.tried("/a", "").size() == many + 4);
}

TEST_CASE("without a host the path alone finds the routes") {
  IndexedRoutes routes;
  for (int i = 0; i < many; ++i)
    routes.add(("/svc" + number(i)).c_str(), ("h" + number(i)).c_str());
  CHECK(routes.tried("/svc7", "") == Tried{7});
}

TEST_CASE("letter case and a trailing slash lead to the same routes") {
  IndexedRoutes routes;
  for (int i = 0; i < 100; ++i)
    routes.add("/A-Rather-Long-Name-" + number(i) + (i % 2 == 0 ? "/" : ""));
  const PathReading in_any_case{.text = "/a-rather-LONG-name-8/", .ignores_case = true};
  CHECK(routes.tried(in_any_case) == Tried{8});
  const PathReading without_slash{.text = "/A-Rather-Long-Name-8", .ignores_trailing_slash = true};
  CHECK(routes.tried(without_slash) == Tried{8});
  const PathReading with_slash{.text = "/A-Rather-Long-Name-9/", .ignores_trailing_slash = true};
  CHECK(routes.tried(with_slash) == Tried{9});
}

TEST_CASE("routes after the first that matches are not tried, and bounds are kept") {
  IndexedRoutes routes;
  routes.add("/**");
  for (int i = 0; i < 100; ++i)
    routes.add("/a");
  const RouteIndex index(routes.entries);
  int count = 0;
  const auto always = [&](RouteIndex::Route) { return ++count > 0; };
  CHECK(index.first({.text = "/a"}, "h", 0, 101, always) == 0);
  CHECK(count <= 2);
  CHECK(index.first({.text = "/a"}, "h", 50, 101, always) == 50);
  CHECK(index.first({.text = "/a"}, "h", 50, 50, always) == 50);
  CHECK(index.first({.text = "/b"}, "h", 50, 101, always) == 101);
}

TEST_CASE("an empty index, a path that is none, and patterns deeper than the index") {
  CHECK(IndexedRoutes{}.tried("/").empty());
  IndexedRoutes routes;
  std::string deep;
  for (int i = 0; i < 100; ++i)
    deep += "/a";
  for (int i = 0; i < 6; ++i)
    routes.add(deep + "/" + number(i));
  routes.add("/**");
  CHECK(routes.tried("*") == Tried{6});
  CHECK(routes.tried(deep + "/3").size() == 7);
}

}  // namespace weir::routing
