// The head that a line of a log stands for.
#include "replay/arrival.hpp"

#include <array>

#include "catch.hpp"

namespace weir::replay {
namespace {

LoggedRequest get(std::string_view target) {
  return {.at = instant_from_us(1'000), .method = "GET", .target = target};
}

std::string head_of(const LoggedRequest& logged) {
  Arrival arrival;
  fill(arrival, logged, "localhost");
  return arrival.head;
}

}  // namespace

TEST_CASE("a head has the fields of the log, and a host") {
  CHECK(head_of(get("/a?b=c")) == "GET /a?b=c HTTP/1.1\r\nHost: localhost\r\n\r\n");
  LoggedRequest logged = get("/");
  const std::array fields{LoggedField{.name = "x-key", .value = "abc"}};
  logged.host = "api.example.com";
  logged.user_agent = "curl/8";
  logged.referer = "http://a/";
  logged.fields = fields;
  CHECK(head_of(logged) ==
        "GET / HTTP/1.1\r\nHost: api.example.com\r\nUser-Agent: curl/8\r\nReferer: http://a/\r\n"
        "x-key: abc\r\n\r\n");
}

TEST_CASE("bytes that would end a line never reach the head") {
  LoggedRequest logged = get("/");
  logged.user_agent = "a\r\nX-Key: other";
  CHECK(head_of(logged) == "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  for (const char* const target : {"", "/a b", "/a\r\nX-Key: other", "/\x7f"}) {
    CAPTURE(target);
    CHECK(head_of(get(target)).empty());
  }
  for (const char* const method : {"", "G T", "GET\r\n"}) {
    CAPTURE(method);
    LoggedRequest other = get("/");
    other.method = method;
    CHECK(head_of(other).empty());
  }
}

TEST_CASE("a call of the rate limit service is not a request to replay") {
  Arrival arrival;
  LoggedRequest logged = get("/json");
  logged.status = 200;
  logged.own = OwnRecord{.decision = "allowed", .policy = "p"};
  fill(arrival, logged, "localhost");
  CHECK(arrival.is_service_call);
  CHECK(arrival.head.empty());
  SECTION("without a limit it has its path only") {
    logged = get("/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit");
    logged.own = OwnRecord{};
    fill(arrival, logged, "localhost");
    CHECK(arrival.is_service_call);
    logged.target = "/kuadrant.service.ratelimit.v1.RateLimitService/CheckRateLimit";
    fill(arrival, logged, "localhost");
    CHECK(arrival.is_service_call);
  }
  SECTION("a request with a route is none, whatever its path is") {
    logged.target = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
    logged.own->route = "r";
    fill(arrival, logged, "localhost");
    CHECK_FALSE(arrival.is_service_call);
    CHECK_FALSE(arrival.head.empty());
  }
  SECTION("a request that was refused is none, and no line of another server is") {
    logged.own = OwnRecord{};
    fill(arrival, logged, "localhost");
    CHECK_FALSE(arrival.is_service_call);
    logged = get("/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit");
    fill(arrival, logged, "localhost");
    CHECK_FALSE(arrival.is_service_call);
    CHECK_FALSE(arrival.head.empty());
  }
}

TEST_CASE("a gRPC call ends with the status of Weir's own log") {
  Arrival arrival;
  LoggedRequest logged = get("/");
  logged.status = 200;
  logged.own = OwnRecord{.grpc_status = 16};
  fill(arrival, logged, "localhost");
  CHECK(arrival.end().is_grpc);
  CHECK(arrival.end().grpc_status == 16);
  logged.own->grpc_status.reset();
  fill(arrival, logged, "localhost");
  CHECK_FALSE(arrival.end().is_grpc);
  CHECK(arrival.end().status == 200);
}

TEST_CASE("a request is decided when Weir decided it, and ends after its duration") {
  Arrival arrival;
  LoggedRequest logged = get("/");
  fill(arrival, logged, "localhost");
  CHECK(arrival.at == instant_from_us(1'000));
  CHECK_FALSE(arrival.ends_at);
  logged.duration = Duration{500};
  logged.decided_at = instant_from_us(1'020);
  fill(arrival, logged, "localhost");
  CHECK(arrival.at == instant_from_us(1'020));
  CHECK(arrival.ends_at == instant_from_us(1'500));
}

TEST_CASE("a request that waited for a slot arrives when it began to wait") {
  Arrival arrival;
  LoggedRequest logged = get("/");
  logged.decided_at = instant_from_us(1'400);
  const std::array<std::int64_t, 3> steps{20, 30, 400};
  logged.own = OwnRecord{.queue_us = steps};
  fill(arrival, logged, "localhost");
  CHECK(arrival.at == instant_from_us(1'020));
  CHECK(arrival.logged.queue_steps == std::vector{instant_from_us(1'030), instant_from_us(1'400)});
  CHECK_FALSE(arrival.logged.was_interrupted);
  logged.own = OwnRecord{.aborted_by = "shutdown"};
  fill(arrival, logged, "localhost");
  CHECK(arrival.logged.queue_steps.empty());
  CHECK(arrival.logged.was_interrupted);
  logged.own = OwnRecord{.grpc_status = 4};
  fill(arrival, logged, "localhost");
  CHECK(arrival.logged.was_interrupted);
}

}  // namespace weir::replay
