#include "log/access_log.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "seed.hpp"

using namespace weir;
using namespace weir::log;

namespace {

std::string line_of(const AccessRecord& record) {
  std::string out;
  append_json_line(out, record);
  return out;
}

nlohmann::json parsed(const AccessRecord& record) {
  return nlohmann::json::parse(line_of(record));
}

AccessRecord full_record() {
  return {.time = weir::instant_from_us(1'738'367'999'000'001),
          .method = "GET",
          .path = "/v1/search",
          .route = "search",
          .plan = "gold",
          .status = 429,
          .bytes_in = 0,
          .bytes_out = 512,
          .duration = Duration{1234},
          .upstream = "api",
          .upstream_server = "10.0.0.1:80",
          .upstream_took = Duration{1000},
          .decision = AccessDecision::denied,
          .policy = "per_user",
          .cost = 5,
          .remaining = 0,
          .retry_after = Duration{1'500'001},
          .delay = Duration{0},
          .decision_took = Duration{3},
          .decided_at = weir::instant_from_us(1'738'367'999'000'001),
          .store = "memory",
          .client = IpAddress::v4({192, 0, 2, 1}),
          .identity = weir::Hash128{.low = 0x0123456789abcdef, .high = 0xf},
          .identity_kind = "user",
          .request_id = "6f1c",
          .trace_id = "4bf92f3577b34da6a3ce929d0e0e4736",
          .user_agent = "curl/8.0",
          .protocol = "HTTP/1.1",
          .grpc_status = 8};
}

const std::vector<std::string> fields{
    "time",         "method",         "path",      "route",          "plan",      "status",
    "aborted_by",   "bytes_in",       "bytes_out", "duration_us",    "upstream",  "upstream_server",
    "upstream_us",  "upstream_error", "decision",  "policy",         "denied_by", "cost",
    "reserved",     "settled_by",     "remaining", "retry_after_ms", "delay_us",  "decision_us",
    "decided_at",   "queue_us",       "store",     "client",         "identity",  "identity_kind",
    "other_limits", "request_id",     "trace_id",  "user_agent",     "protocol",  "grpc_status"};

std::unique_ptr<LineWriter> unread_writer() {
  auto writer = LineWriter::open("/dev/null");
  REQUIRE(writer.has_value());
  return std::move(writer).value();
}

}  // namespace

TEST_CASE("append_text_line writes the Combined Log Format") {
  const auto text_of = [](const AccessRecord& record) {
    std::string out;
    append_text_line(out, record);
    return out;
  };
  AccessRecord record = full_record();
  CHECK(text_of(record) ==
        "192.0.2.1 - 000000000000000f0123456789abcdef [31/Jan/2025:23:59:59 +0000] "
        "\"GET /v1/search HTTP/1.1\" 429 512 \"-\" \"curl/8.0\"\n");
  // Characters from the client can end neither the quotes nor the line.
  record.path = "/a\"b\\\x7f";
  record.user_agent = "x\n\xc3\xa9\"";
  record.identity.reset();
  CHECK(text_of(record) ==
        "192.0.2.1 - - [31/Jan/2025:23:59:59 +0000] "
        "\"GET /a\\x22b\\x5C\\x7F HTTP/1.1\" 429 512 \"-\" \"x\\x0A\\xC3\\xA9\\x22\"\n");
  // Neither a request nor a response.
  CHECK(text_of({.time = weir::instant_from_us(0), .protocol = "HTTP/1.1"}) ==
        "- - - [01/Jan/1970:00:00:00 +0000] \"-\" 499 0 \"-\" \"-\"\n");
}

TEST_CASE("append_json_line writes every field in order") {
  CHECK(
      line_of(full_record()) ==
      R"({"time":"2025-01-31T23:59:59.000001Z","method":"GET","path":"/v1/search","route":"search",)"
      R"("plan":"gold","status":429,"aborted_by":null,"bytes_in":0,"bytes_out":512,"duration_us":1234,"upstream":"api","upstream_server":"10.0.0.1:80","upstream_us":1000,"upstream_error":null,)"
      R"("decision":"denied","policy":"per_user","denied_by":null,"cost":5,"reserved":null,"settled_by":null,"remaining":0,"retry_after_ms":1501,"delay_us":0,"decision_us":3,"decided_at":1738367999000001,"queue_us":null,)"
      R"("store":"memory","client":"192.0.2.1","identity":"000000000000000f0123456789abcdef",)"
      R"("identity_kind":"user","other_limits":null,)"
      R"("request_id":"6f1c","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","user_agent":"curl/8.0","protocol":"HTTP/1.1","grpc_status":8})"
      "\n");
}

TEST_CASE("append_json_line writes null for what does not apply") {
  CHECK(
      line_of({}) ==
      R"({"time":"1970-01-01T00:00:00.000000Z","method":null,"path":null,"route":null,)"
      R"("plan":null,"status":null,"aborted_by":null,"bytes_in":0,"bytes_out":0,"duration_us":0,"upstream":null,"upstream_server":null,"upstream_us":null,"upstream_error":null,)"
      R"("decision":null,"policy":null,"denied_by":null,"cost":null,"reserved":null,"settled_by":null,"remaining":null,"retry_after_ms":null,"delay_us":null,"decision_us":null,"decided_at":null,"queue_us":null,)"
      R"("store":null,"client":null,"identity":null,"identity_kind":null,"other_limits":null,)"
      R"("request_id":null,"trace_id":null,"user_agent":null,"protocol":null,"grpc_status":null})"
      "\n");
}

TEST_CASE("append_json_line writes the steps of a wait relative to the time of the request") {
  const Instant steps[]{weir::instant_from_us(1'000'012), weir::instant_from_us(1'100'034)};
  CHECK(parsed({.time = weir::instant_from_us(1'000'000), .queue_steps = steps})["queue_us"] ==
        nlohmann::json::array({12, 100'034}));
}

TEST_CASE("append_json_line names every decision in the words of the contract") {
  const std::vector<std::pair<AccessDecision, nlohmann::json>> rows{
      {AccessDecision::none, nullptr},      {AccessDecision::allowed, "allowed"},
      {AccessDecision::denied, "denied"},   {AccessDecision::shadow_denied, "shadow_denied"},
      {AccessDecision::delayed, "delayed"}, {AccessDecision::error, "error"},
  };
  for (const auto& [decision, expected] : rows) {
    CHECK(parsed({.decision = decision})["decision"] == expected);
  }
}

TEST_CASE("append_json_line names the failure of the upstream, with its code if it has one") {
  using enum UpstreamError;
  const std::vector<std::pair<UpstreamError, nlohmann::json>> rows{
      {none, nullptr},
      {unreachable, "unreachable"},
      {connect_timeout, "connect_timeout"},
      {closed, "closed"},
      {refused_stream, "refused_stream"},
      {reset, "reset"},
      {goaway, "goaway"},
      {invalid, "invalid"},
      {timeout, "timeout"},
      {unhealthy, "unhealthy"},
  };
  for (const auto& [error, expected] : rows)
    CHECK(parsed({.upstream_error = error})["upstream_error"] == expected);
  CHECK(parsed({.upstream_error = reset, .upstream_error_code = "CANCEL"})["upstream_error"] ==
        "reset:CANCEL");
}

TEST_CASE("append_json_line names the party that ended a request, and each policy that denied") {
  CHECK(parsed({.aborted_by = AbortedBy::client})["aborted_by"] == "client");
  CHECK(parsed({.aborted_by = AbortedBy::upstream})["aborted_by"] == "upstream");
  CHECK(parsed({.aborted_by = AbortedBy::shutdown})["aborted_by"] == "shutdown");
  const std::vector<DeniedPolicy> denied{{.policy = "per \"user\"", .remaining = 0},
                                         {.policy = "trial", .shadow = true, .remaining = 2}};
  CHECK(parsed({.denied_by = denied})["denied_by"] == nlohmann::json::parse(R"([
    {"policy": "per \"user\"", "outcome": "denied", "remaining": 0},
    {"policy": "trial", "outcome": "shadow_denied", "remaining": 2}])"));
  const std::vector<OtherLimit> others{
      {.policy = "p", .identity = {.low = 1, .high = 0}, .identity_kind = "user", .cost = 3},
      {.policy = "q", .identity = {}, .identity_kind = "key", .cost = 2, .reserved = 9}};
  CHECK(parsed({.other_limits = others})["other_limits"] == nlohmann::json::parse(R"([
    {"policy": "p", "identity": "00000000000000000000000000000001", "identity_kind": "user",
     "cost": 3, "reserved": null},
    {"policy": "q", "identity": "00000000000000000000000000000000", "identity_kind": "key",
     "cost": 2, "reserved": 9}])"));
}

TEST_CASE("append_json_line writes times as RFC 3339 in UTC") {
  struct Row {
    std::int64_t us;
    const char* text;
  };
  const std::vector<Row> rows{
      {0, "1970-01-01T00:00:00.000000Z"},
      {951'782'400'000'000, "2000-02-29T00:00:00.000000Z"},
      {951'868'799'999'999, "2000-02-29T23:59:59.999999Z"},
      {1'735'689'600'000'000, "2025-01-01T00:00:00.000000Z"},
      {1'735'693'261'000'010, "2025-01-01T01:01:01.000010Z"},
      {4'107'542'400'000'000, "2100-03-01T00:00:00.000000Z"},
  };
  for (const auto& row : rows) {
    CHECK(parsed({.time = weir::instant_from_us(row.us)})["time"] == row.text);
  }
}

TEST_CASE("append_json_line keeps hostile text inside its string") {
  struct Row {
    std::string text;
    std::string logged;
  };
  const std::vector<Row> rows{
      {R"(","status":200,"x":")", R"(","status":200,"x":")"},
      {R"(\)", R"(\)"},
      {"a\nb\r\tc", "a\nb\r\tc"},
      {std::string("\0\x01\x1f", 3), std::string("\0\x01\x1f", 3)},
      {"\x7f", "\x7f"},
      {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
      {"\xff/\xc3", "\xef\xbf\xbd/\xef\xbf\xbd"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto line = line_of({.path = row.text, .status = 404, .user_agent = row.text});
    CHECK(std::count(line.begin(), line.end(), '\n') == 1);
    const auto json = nlohmann::json::parse(line);
    CHECK(json["path"] == row.logged);
    CHECK(json["user_agent"] == row.logged);
    CHECK(json["status"] == 404);
    CHECK(json.size() == fields.size());
  }
}

TEST_CASE("append_json_line gives one line of valid JSON with the same fields for any bytes") {
  const TestSeed seed;
  std::mt19937 random(seed);
  for (int round = 0; round < 500; ++round) {
    std::string noise(random() % 40, ' ');
    for (char& c : noise)
      c = static_cast<char>(random());
    auto record = full_record();
    record.method = record.path = record.request_id = record.user_agent = noise;
    const auto line = line_of(record);
    REQUIRE(std::count(line.begin(), line.end(), '\n') == 1);
    const auto json = nlohmann::ordered_json::parse(line);
    std::vector<std::string> names;
    for (const auto& member : json.items())
      names.push_back(member.key());
    REQUIRE(names == fields);
  }
}

TEST_CASE("AccessLog wants what the configuration asks for") {
  using Only = AccessLogOptions::Only;
  struct Row {
    AccessLogOptions options;
    bool denied, not_denied;
  };
  const std::vector<Row> rows{
      {{.path = "-", .sample = 1.0, .only = Only::all}, true, true},
      {{.path = "-", .sample = 1.0, .only = Only::denied}, true, false},
      {{.path = "off", .sample = 1.0, .only = Only::all}, false, false},
      {{.path = "off", .sample = 1.0, .only = Only::denied}, false, false},
  };
  const auto writer = unread_writer();
  for (const auto& row : rows) {
    AccessLog log(row.options, *writer);
    for (int i = 0; i < 100; ++i) {
      REQUIRE(log.wants(true) == row.denied);
      REQUIRE(log.wants(false) == row.not_denied);
    }
  }
}

TEST_CASE("AccessLog samples the share asked for, whatever the rhythm of the traffic") {
  const auto writer = unread_writer();
  for (const double share : {0.01, 0.5, 0.9}) {
    AccessLog log({.path = "-", .sample = share, .only = AccessLogOptions::Only::all}, *writer, 42);
    constexpr int requests = 100'000;
    int taken[2] = {0, 0};
    for (int i = 0; i < requests; ++i)
      taken[i % 2] += log.wants(i % 2 == 0) ? 1 : 0;
    CAPTURE(share, taken[0], taken[1]);
    for (const int count : taken) {
      CHECK(count > share * requests / 2 * 0.85);
      CHECK(count < share * requests / 2 * 1.15);
    }
  }
}

TEST_CASE("AccessLog of a tiny share still writes a line now and then") {
  const auto writer = unread_writer();
  AccessLog log({.path = "-", .sample = 0.0001, .only = AccessLogOptions::Only::all}, *writer, 7);
  int taken = 0;
  for (int i = 0; i < 200'000; ++i)
    taken += log.wants(false) ? 1 : 0;
  CHECK(taken > 5);
  CHECK(taken < 60);
}
