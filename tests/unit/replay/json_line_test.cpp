// Lines of JSON logs: those of real servers, and hostile ones.
#include "replay/json_line.hpp"

#include <algorithm>
#include <vector>

#include "catch.hpp"

namespace weir::replay {
namespace {

const Instant logged_at = instant_from_us(1'767'225'600'250'000);  // 2026-01-01T00:00:00.25Z

std::optional<LineFault> json_fault(std::string_view line) {
  JsonLineReader reader;
  const auto read = reader.read(line);
  return read ? std::nullopt : std::optional(read.error());
}

}  // namespace

TEST_CASE("a line of Weir's own log has its parts") {
  JsonLineReader reader;
  const auto read = reader.read(
      R"({"time":"2026-01-01T00:00:00.250000Z","method":"GET","path":"/a","route":null,"status":200,)"
      R"("denied_by":[{"policy":"p","remaining":0}],"client":"192.0.2.1",)"
      R"("identity":"a5c44d7696c9e5fdd2ba5b788687c5a2","user_agent":"curl/8"})");
  REQUIRE(read.has_value());
  CHECK(read->at == logged_at);
  CHECK(read->client == IpAddress::parse("192.0.2.1"));
  CHECK((read->method == "GET" && read->target == "/a" && read->status == 200));
  CHECK(read->user_agent == "curl/8");
  CHECK(read->referer.empty());
  const auto ended = reader.read(R"({"time":0,"duration_us":1500,"decided_at":1767225600250000})");
  REQUIRE(ended.has_value());
  CHECK(ended->duration == Duration{1'500});
  CHECK(ended->decided_at == logged_at);
}

TEST_CASE("a line of a request that waited for a slot has its steps") {
  JsonLineReader reader;
  const auto read = reader.read(R"({"time":0,"request_id":"1","queue_us":[12,100034,-1,"x"]})");
  REQUIRE((read.has_value() && read->own));
  CHECK(std::ranges::equal(read->own->queue_us, std::vector<std::int64_t>{12, 100'034}));
  const auto other =
      reader.read(R"({"time":0,"request_id":"1","queue_us":null,"queue_usual":[1]})");
  REQUIRE((other.has_value() && other->own));
  CHECK(other->own->queue_us.empty());
}

TEST_CASE("a request line counts if there is neither a method nor a target") {
  JsonLineReader reader;
  const auto read = reader.read(R"({"time":0,"request":"POST /a HTTP/2.0"})");
  REQUIRE(read.has_value());
  CHECK((read->method == "POST" && read->target == "/a"));
  const auto both = reader.read(R"({"time":0,"path":"/b","request":"POST /a HTTP/2.0"})");
  REQUIRE(both.has_value());
  CHECK((both->method.empty() && both->target == "/b"));
  const auto other = reader.read(R"({"time":0,"request":"\\x16\\x03"})");
  REQUIRE(other.has_value());
  CHECK((other->method.empty() && other->target.empty()));
}

TEST_CASE("members of other servers are found by their paths, numbers of time by their size") {
  JsonLineReader caddy({.time = "ts",
                        .client = "request.remote_ip",
                        .method = "request.method",
                        .target = "request.uri",
                        .status = "status",
                        .user = "user_id",
                        .referer = "",
                        .user_agent = "request.headers.User-Agent"});
  const auto read = caddy.read(
      R"( { "ts" : 1767225600.25 , "request": {"remote_ip":"::1","method":"PUT","uri":"\/x\u0022",)"
      R"("headers":{"User-Agent":["first","second"],"Accept":[]}},"status":404, "user_id":"", "x":[[1],{"status":1}]} )");
  REQUIRE(read.has_value());
  CHECK(read->at == logged_at);
  CHECK(read->client == IpAddress::parse("::1"));
  CHECK((read->method == "PUT" && read->target == "/x\"" && read->status == 404));
  CHECK(read->user_agent == "first");
  JsonLineReader times;
  for (const char* const time :
       {"1767225600250", "1767225600250000", "1767225600250000000", "\"1767225600.25\""}) {
    CAPTURE(time);
    const auto number = times.read("{\"time\":" + std::string(time) + "}");
    REQUIRE(number.has_value());
    CHECK(number->at == logged_at);
  }
}

TEST_CASE("escaped texts are what they stand for") {
  JsonLineReader reader;
  const auto read = reader.read(
      R"({"time":0,"path":"\\\/\b\f\n\r\t\u00e4\u20ac","user_agent":"\ud83d\ude00|\ud83d|\udc00","me\u0074hod":"A"})");
  REQUIRE(read.has_value());
  CHECK(read->target == "\\/\b\f\n\r\t\xC3\xA4\xE2\x82\xAC");
  CHECK(read->user_agent == "\xF0\x9F\x98\x80|\xEF\xBF\xBD|\xEF\xBF\xBD");
  CHECK(read->method == "A");
}

TEST_CASE("a line that is no object, is cut off, or lacks a time has its fault") {
  const std::string whole =
      R"({"time":"2026-01-01T00:00:00Z","path":"\u00e4\n","a":[1,{"b":null}]})";
  CHECK_FALSE(json_fault(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK(json_fault(whole.substr(0, size)) == LineFault::form);
  }
  CHECK(json_fault(whole + "x") == LineFault::form);
  CHECK(json_fault(R"({"time":"\q"})") == LineFault::form);
  CHECK(json_fault(R"({"time":"\u12"})") == LineFault::form);
  CHECK(json_fault("{\"a\":" + std::string(10'000, '[')) == LineFault::form);
  std::string nested;
  for (int i = 0; i < 10'000; ++i)
    nested += "{\"a\":";
  CHECK(json_fault(nested) == LineFault::form);
  CHECK(json_fault("{}") == LineFault::time);
  CHECK(json_fault(R"({"time":"today"})") == LineFault::time);
  CHECK(json_fault(R"({"time":-1})") == LineFault::time);
  for (const char* time : {"1970-01-01T00:00:00+14:00", "2100-01-01T00:00:00Z"})
    CHECK(json_fault(std::string(R"({"time":")") + time + "\"}") == LineFault::time);
  for (const char* not_a_number : {"nan", "-nan", "inf", "1e999"})
    CHECK(json_fault(std::string(R"({"time":")") + not_a_number + "\"}") == LineFault::time);
  CHECK(json_fault(R"({"time":1e300})") == LineFault::time);
  for (const char* const status : {"99", "600", "\"ok\"", "true"})
    CHECK(json_fault(R"({"time":0,"status":)" + std::string(status) + "}") == LineFault::status);
  CHECK_FALSE(json_fault(R"({"time":0,"status":null})"));
  // There was no response.
  for (const char* const status : {"0", "\"-\"", "\"\""})
    CHECK_FALSE(json_fault(R"({"time":0,"status":)" + std::string(status) + "}"));
}

}  // namespace weir::replay
