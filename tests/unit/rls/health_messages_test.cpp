#include "rls/health_messages.hpp"

#include <string>

#include "catch.hpp"

namespace weir::rls {
namespace {

using namespace std::string_view_literals;

TEST_CASE("a health check names its service") {
  HealthCheckRequest request{.service = "of the request before"};
  CHECK(read_protobuf("", request) == ""sv);
  CHECK(request.service == ""sv);
  CHECK(read_protobuf("\x0a\x03rls\x10\x01"sv, request) == ""sv);
  CHECK(request.service == "rls");
  CHECK(read_protobuf("\x0a\x03rl"sv, request) == "a field ends beyond the end of its message");
  CHECK(read_protobuf("\x0a\x01\xff"sv, request) == "a string is not valid UTF-8");
}

TEST_CASE("a known service serves until the process stops") {
  for (const std::string_view name :
       {"", "ratelimit", "envoy.service.ratelimit.v3.RateLimitService",
        "kuadrant.service.ratelimit.v1.RateLimitService"}) {
    CHECK(status_of(name, false) == ServingStatus::serving);
    CHECK(status_of(name, true) == ServingStatus::not_serving);
  }
  CHECK(status_of("other", false) == ServingStatus::service_unknown);
  CHECK(status_of("other", true) == ServingStatus::service_unknown);
}

TEST_CASE("the answer to a health check is a status") {
  struct Row {
    ServingStatus status;
    std::string_view bytes;
  };
  const Row rows[] = {{ServingStatus::unknown, ""sv},
                      {ServingStatus::serving, "\x08\x01"sv},
                      {ServingStatus::not_serving, "\x08\x02"sv},
                      {ServingStatus::service_unknown, "\x08\x03"sv}};
  for (const Row& row : rows) {
    std::string out;
    append_protobuf(out, row.status);
    CHECK(out == row.bytes);
  }
}

}  // namespace
}  // namespace weir::rls
