// The code that every request runs allocates nothing.
#include <array>

#include "catch.hpp"
#include "routing/route_table.hpp"
#include "unit/http/allocations.hpp"
#include "unit/http/request_of.hpp"

namespace weir::routing {
namespace {

TEST_CASE("matching a route allocates nothing") {
  http::RequestOf request{{{"x-beta", "1"}}};
  request.view.host = "a-rather-long-label.api.example.com";
  request.view.path = "/users/a-user-with-a-rather-long-name/posts/12345/comments";
  const IpPrefix prefix = IpPrefix::parse("192.0.2.0/24").value();
  const IpAddress client = IpAddress::v4({192, 0, 2, 7});
  const Match match{.host = "*.API.example.com",
                    .path = PathPattern::parse("/users/{user}/posts/{post}/**").value(),
                    .methods = {"GET"},
                    .headers = {{"X-Beta", "1"}},
                    .address = AddressList("office", PrefixTable({prefix}))};
  std::array<std::string_view, path_parameter_limit> captures;
  bool matched = false;
  CHECK(allocations_in([&] {
          matched = matches_apart_from_path(match, request.view, client) &&
                    matches_path(match, {.text = request.view.path}, captures.data());
        }) == 0);
  CHECK(matched);
}

TEST_CASE("finding the routes of a request allocates nothing once there is room") {
  const Match login{
      .host = {}, .path = PathPattern::parse("/login").value(), .methods = {}, .headers = {}};
  const Match any{
      .host = {}, .path = PathPattern::parse("/**").value(), .methods = {}, .headers = {}};
  const RouteTable table({{.match = &login}, {.match = &any}}, {});
  const http::RequestOf request{{}};
  Question question{.request = request.view, .paths = {}};
  std::vector<Candidate> candidates;
  const auto find = [&](std::string_view path) {
    const auto none = [&]() -> Result<const Question*, http::Refusal> { return &question; };
    return !question.paths.read(path, table.reading_options()) &&
           !table.find(question, none, candidates);
  };
  for (const char* path : {"/a-long-name/of-a-plain/path-in-lower-case", "/LOGIN/",
                           "//a/../login;a-long-parameter=1", "/a%20long%20name/with%20escapes"}) {
    CAPTURE(path);
    REQUIRE(find(path));
    bool found = false;
    CHECK(allocations_in([&] { found = find(path); }) == 0);
    CHECK(found);
  }
}

}  // namespace
}  // namespace weir::routing
