#include "telemetry/span.hpp"

#include <string>
#include <string_view>

#include "catch.hpp"
#include "unit/telemetry/must_read.hpp"

namespace weir::telemetry {
namespace {

constexpr std::string_view trace = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr std::string_view own = "00f067aa0ba902b7";

Span least() {
  return {.trace_id = trace,
          .span_id = own,
          .trace_flags = 1,
          .begun_at = instant_from_us(1'700'000'000'000'001),
          .ended_at = instant_from_us(1'700'000'000'250'000)};
}

json::Value read_span(const Span& span) {
  std::string text;
  append_span(text, span);
  return test::must_read(text);
}

/// The text or the number of an attribute; "-": there is none.
std::string attribute(const json::Value& span, std::string_view key) {
  for (const json::Member& one : span.find("attributes")->members) {
    if (one.value.find("key")->text != key) continue;
    const json::Value* const value = one.value.find("value");
    REQUIRE(value->members.size() == 1);
    CHECK(value->members[0].value.kind == json::Kind::string);
    return value->members[0].value.text;
  }
  return "-";
}

std::string member(const json::Value& object, std::string_view name) {
  const json::Value* const found = object.find(name);
  return found == nullptr ? "-" : found->text;
}

}  // namespace

TEST_CASE("a span has hexadecimal ids, nanoseconds as texts and enumerators as numbers") {
  std::string text;
  append_span(text, least());
  CHECK(text == R"({"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7",)"
                R"("flags":257,"name":"HTTP","kind":2,"startTimeUnixNano":"1700000000000001000",)"
                R"("endTimeUnixNano":"1700000000250000000","attributes":[]})");
}

TEST_CASE("a span of a trace that the client began has its parent, which is remote") {
  Span span = least();
  span.parent_id = "b7ad6b7169203331";
  const auto json = read_span(span);
  CHECK(member(json, "parentSpanId") == "b7ad6b7169203331");
  CHECK(member(json, "flags") == std::to_string(1 + 0x100 + 0x200));
}

TEST_CASE("attributes have the names of the semantic conventions") {
  Span span = least();
  span.method = "GET";
  span.scheme = "https";
  span.path = "/v1/users/7";
  span.route_pattern = "/v1/**";
  span.route = "users";
  span.status = 429;
  span.protocol_version = "1.1";
  span.client = IpAddress::parse("192.0.2.7");
  span.user_agent = "curl \"8\"";
  span.decision = "denied";
  span.policy = "per_user";
  span.cost = 1;
  span.remaining = 0;
  span.retry_after = Duration{1'000'001};
  span.delay = Duration{0};
  span.plan = "gold";
  span.store = "redis";
  span.identity = Hash128{.low = 2, .high = 1};
  span.identity_kind = "api_key";
  span.upstream = "api";
  span.request_id = "r-1";
  const auto json = read_span(span);
  CHECK(member(json, "name") == "GET /v1/**");
  struct Row {
    std::string_view key;
    std::string_view value;
  };
  for (const Row& row : {
           Row{"http.request.method", "GET"},
           Row{"url.scheme", "https"},
           Row{"url.path", "/v1/users/7"},
           Row{"http.route", "/v1/**"},
           Row{"http.response.status_code", "429"},
           Row{"network.protocol.version", "1.1"},
           Row{"client.address", "192.0.2.7"},
           Row{"user_agent.original", "curl \"8\""},
           Row{"error.type", "-"},
           Row{"rate_limit.decision", "denied"},
           Row{"rate_limit.policy", "per_user"},
           Row{"rate_limit.cost", "1"},
           Row{"rate_limit.remaining", "0"},
           Row{"rate_limit.retry_after_ms", "1001"},
           Row{"rate_limit.delay_ms", "0"},
           Row{"rate_limit.plan", "gold"},
           Row{"rate_limit.store", "redis"},
           Row{"rate_limit.identity", "00000000000000010000000000000002"},
           Row{"rate_limit.identity_kind", "api_key"},
           Row{"weir.route", "users"},
           Row{"weir.upstream", "api"},
           Row{"weir.request_id", "r-1"},
       }) {
    CAPTURE(row.key);
    CHECK(attribute(json, row.key) == row.value);
  }
  CHECK(json.find("status") == nullptr);
}

TEST_CASE("an unknown method has no name of its own, and long texts are cut") {
  Span span = least();
  span.method = "BREW";
  const std::string path(longest_path + 1, 'p');
  const std::string agent(longest_user_agent + 1, 'a');
  span.path = path;
  span.user_agent = agent;
  const auto json = read_span(span);
  CHECK(member(json, "name") == "HTTP");
  CHECK(attribute(json, "http.request.method") == "_OTHER");
  CHECK(attribute(json, "http.request.method_original") == "BREW");
  CHECK(attribute(json, "url.path").size() == longest_path);
  CHECK(attribute(json, "user_agent.original").size() == longest_user_agent);
}

TEST_CASE("a span is an error if the server fails, not if the client does") {
  struct Row {
    int status;
    std::string_view aborted_by;
    std::string_view error;
  };
  for (const Row& row : {
           Row{200, "", "-"},
           Row{404, "", "-"},
           Row{429, "", "-"},
           Row{499, "client", "-"},
           Row{500, "", "500"},
           Row{503, "", "503"},
           Row{200, "upstream", "aborted"},
           Row{444, "shutdown", "aborted"},
       }) {
    CAPTURE(row.status, row.aborted_by);
    Span span = least();
    span.status = row.status;
    span.aborted_by = row.aborted_by;
    const auto json = read_span(span);
    CHECK(attribute(json, "error.type") == row.error);
    const json::Value* const status = json.find("status");
    CHECK((status == nullptr ? "-" : member(*status, "code")) == (row.error == "-" ? "-" : "2"));
  }
}

}  // namespace weir::telemetry
