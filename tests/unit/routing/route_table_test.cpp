#include "routing/route_table.hpp"

#include <deque>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "seed.hpp"
#include "unit/http/request_of.hpp"

namespace weir::routing {
namespace {

/// TableRoutes by their patterns; the candidates of a path, the one that takes the request first.
struct TableRoutes {
  void add(const char* pattern, RouteTable::Entry entry = {.match = nullptr}) {
    auto& match = matches.emplace_back();
    match.path = PathPattern::parse(pattern).value();
    entry.match = &match;
    entries.push_back(entry);
  }
  std::optional<std::vector<std::size_t>> found(std::string_view path,
                                                std::string_view original_path = "/never") {
    const RouteTable table(entries, variants);
    const http::RequestOf request{{}};
    Question question{.request = request.view, .paths = {}};
    Question original{.request = request.view, .paths = {}};
    refusal = question.paths.read(path, table.reading_options());
    if (refusal) return std::nullopt;
    asked = 0;
    const auto describe = [&]() -> Result<const Question*, http::Refusal> {
      ++asked;
      if (const auto bad = original.paths.read(original_path, table.reading_options())) return *bad;
      return &original;
    };
    std::vector<Candidate> candidates;
    refusal = table.find(question, describe, candidates);
    if (refusal) return std::nullopt;
    std::vector<std::size_t> routes;
    for (const Candidate& candidate : candidates)
      routes.push_back(candidate.route);
    return routes;
  }

  std::deque<Match> matches;
  std::vector<RouteTable::Entry> entries;
  PathVariants variants;
  std::optional<http::Refusal> refusal;
  int asked = 0;
};

using Found = std::vector<std::size_t>;

}  // namespace

TEST_CASE("the first route that matches takes the request") {
  TableRoutes routes;
  routes.add("/a");
  routes.add("/**");
  routes.add("/b");
  CHECK(routes.found("/a") == Found{0});
  CHECK(routes.found("/b") == Found{1});
  TableRoutes one;
  one.add("/a");
  CHECK(one.found("/b") == Found{});
  CHECK(TableRoutes{}.found("/") == Found{});
}

TEST_CASE("the routes of all readings are found, the normal form's first") {
  TableRoutes routes;
  routes.add("/login");
  routes.add("/users/{id}");
  routes.add("/**");
  CHECK(routes.found("/login/") == Found{2, 0});
  CHECK(routes.found("/Login") == Found{2, 0});
  CHECK(routes.found("/login;v=1") == Found{2, 0});
  CHECK(routes.found("//login") == Found{0, 2, 2});
  CHECK(routes.found("/a/../login") == Found{0, 2});
  CHECK(routes.found("/users/Anna") == Found{1});
  // The same route with other captures is another candidate.
  CHECK(routes.found("/users/7;v=1") == Found{1, 1});
  routes.variants.trailing_slash = false;
  CHECK(routes.found("/login/") == Found{2});
}

TEST_CASE("only a reading of the normal form takes the request") {
  TableRoutes routes;
  routes.add("/login");
  CHECK(routes.found("/login/") == Found{});
  CHECK(routes.found("//login") == Found{0});
}

TEST_CASE("a route that refuses takes the request in any reading") {
  TableRoutes routes;
  routes.add("/internal/**", {.match = nullptr, .refuses = true});
  routes.add("/a/**");
  routes.add("/**");
  for (const char* path : {"/internal;x/y", "/INTERNAL/y", "/a/../internal/y", "/internal/../y",
                           "/internal//../y", "//host/internal/y"}) {
    CAPTURE(path);
    CHECK(routes.found(path).value().front() == 0);
  }
  CHECK(routes.found("//a/b") == Found{1, 2, 2});
}

TEST_CASE("an encoding must be tolerated by every route that is found") {
  TableRoutes routes;
  routes.add("/files/**", {.match = nullptr, .tolerated = {.slashes = true}});
  routes.add("/api/**");
  routes.add("/open/**", {.match = nullptr, .tolerated = {.slashes = true, .doubled = true}});
  CHECK(routes.found("/files/a%2Fb") == Found{0, 0});
  CHECK_FALSE(routes.found("/api/a%2Fb"));
  CHECK_FALSE(routes.found("/api%2Fa"));
  CHECK_FALSE(routes.found("/files/..%2Fapi/x"));
  CHECK_FALSE(routes.found("/nowhere%2F"));
  CHECK_FALSE(routes.found("/files/%2561"));
  CHECK(routes.found("/open/%2561") == Found{2});
}

TEST_CASE(
    "routes that decide see the request that is described, which is read when one is reached") {
  TableRoutes routes;
  routes.add("/ask");
  routes.add("/v1/**", {.match = nullptr, .decides = true});
  routes.add("/v2/**", {.match = nullptr, .decides = true});
  CHECK(routes.found("/ask", "/v1/%00") == Found{0});
  CHECK(routes.asked == 0);
  CHECK(routes.found("/other", "/v2/x") == Found{2});
  CHECK(routes.asked == 1);
  CHECK(routes.found("/v1/x", "/v3/x") == Found{});
  CHECK_FALSE(routes.found("/other", "/v1/%00"));
  // A reading of the request itself does not close one of the original request.
  CHECK(routes.found("/ask/", "/v1/../v2/x") == Found{2, 1, 0});
  // The original request may have more readings than the request itself.
  CHECK(routes.found("/other", "/v1/../v2/x") == Found{2, 1});
}

TEST_CASE("candidates agree with a model that tries one reading after the other") {
  const TestSeed seed;
  std::mt19937 random(seed);
  const std::vector<std::string> patterns{"/a", "/a/", "/A/*", "/*/b", "/a/**", "/b/{id}", "/b"};
  const std::vector<std::string> parts{"/a", "/A", "/b", "/", "/..", "/.", ";x", "//", "/a/b"};
  for (int i = 0; i < history_length(5'000); ++i) {
    TableRoutes routes;
    std::vector<std::string> chosen;
    for (auto count = 1 + random() % 4; count > 0; --count)
      chosen.push_back(patterns[random() % patterns.size()]);
    for (const auto& pattern : chosen)
      routes.add(pattern.c_str());
    std::string path;
    for (auto count = 1 + random() % 4; count > 0; --count)
      path += parts[random() % parts.size()];
    if (!path.starts_with('/')) path.insert(0, "/");
    CAPTURE(chosen, path);
    const auto found = routes.found(path);
    if (!found) continue;  // too many readings

    PathReadings readings;
    const RouteTable table(routes.entries, {});
    REQUIRE_FALSE(readings.read(path, table.reading_options()));
    std::vector<std::size_t> expected;
    for (const PathReading& reading : readings.all()) {
      std::array<std::string_view, path_parameter_limit> captures;
      for (std::size_t route = 0; route < routes.entries.size(); ++route) {
        if (!routes.matches[route].path->matches(reading, captures.data())) continue;
        expected.push_back(route);
        break;
      }
      // Nothing takes the request if the normal form has no route.
      if (&reading == &readings.all().front() && expected.empty()) break;
    }
    for (const auto route : expected)
      CHECK(std::find(found->begin(), found->end(), route) != found->end());
    for (const auto route : *found)
      CHECK(std::find(expected.begin(), expected.end(), route) != expected.end());
    if (!expected.empty()) CHECK(found->front() == expected.front());
  }
}

}  // namespace weir::routing
