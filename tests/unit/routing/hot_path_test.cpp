// What every request goes through allocates nothing.
#include <array>

#include "catch.hpp"
#include "routing/matcher.hpp"
#include "unit/http/allocations.hpp"
#include "unit/http/request_of.hpp"

namespace weir::routing {
namespace {

TEST_CASE("matching a route allocates nothing") {
  http::RequestOf request{{{"x-beta", "1"}}};
  request.view.host = "a-rather-long-label.api.example.com";
  request.view.path = "/users/a-user-with-a-rather-long-name/posts/12345/comments";
  const Match match{.host = "*.API.example.com",
                    .path = PathPattern::parse("/users/{user}/posts/{post}/**").value(),
                    .methods = {"GET"},
                    .headers = {{"X-Beta", "1"}}};
  std::array<std::string_view, path_parameter_limit> captures;
  bool matched = false;
  CHECK(allocations_in([&] { matched = matches(match, request.view, captures.data()); }) == 0);
  CHECK(matched);
}

}  // namespace
}  // namespace weir::routing
