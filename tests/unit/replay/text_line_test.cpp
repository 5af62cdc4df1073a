// Lines of the Common and the Combined Log Format: those of real servers, and hostile ones.
#include "replay/text_line.hpp"

#include "catch.hpp"

namespace weir::replay {
namespace {

const Instant october = instant_from_us(971'211'336'000'000);  // 2000-10-10T20:55:36Z

std::optional<LineFault> fault_of(std::string_view line) {
  TextLineReader reader;
  const auto read = reader.read(line);
  return read ? std::nullopt : std::optional(read.error());
}

}  // namespace

TEST_CASE("a line of each server has its parts") {
  TextLineReader reader;
  SECTION("the example of Apache httpd's documentation, Common") {
    const auto read = reader.read(
        R"(127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326)");
    REQUIRE(read.has_value());
    CHECK(read->at == october);
    CHECK(read->client == IpAddress::parse("127.0.0.1"));
    CHECK(read->user == "frank");
    CHECK(read->method == "GET");
    CHECK(read->target == "/apache_pb.gif");
    CHECK(read->status == 200);
    CHECK(read->referer.empty());
    CHECK(read->user_agent.empty());
  }
  SECTION("the same, Combined") {
    const auto read = reader.read(
        R"(127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326 )"
        R"x("http://www.example.com/start.html" "Mozilla/4.08 [en] (Win98; I ;Nav)")x");
    REQUIRE(read.has_value());
    CHECK(read->referer == "http://www.example.com/start.html");
    CHECK(read->user_agent == "Mozilla/4.08 [en] (Win98; I ;Nav)");
  }
  SECTION("nginx, with IPv6, no agent and more fields") {
    const auto read = reader.read(
        R"(2001:db8::1 - - [10/Oct/2000:20:55:36 +0000] "POST /a?b=c HTTP/1.1" 499 0 "-" "-" "x" 0.1)");
    REQUIRE(read.has_value());
    CHECK(read->at == october);
    CHECK(read->client == IpAddress::parse("2001:db8::1"));
    CHECK(read->user.empty());
    CHECK(read->target == "/a?b=c");
    CHECK(read->status == 499);
    CHECK(read->user_agent.empty());
  }
  SECTION("Weir, with the hash of an identity and no address") {
    const auto read = reader.read(
        R"(- - a5c44d7696c9e5fdd2ba5b788687c5a2 [10/Oct/2000:20:55:36 +0000] "-" 400 120 "-" "curl/8")");
    REQUIRE(read.has_value());
    CHECK_FALSE(read->client);
    CHECK(read->user == "a5c44d7696c9e5fdd2ba5b788687c5a2");
    CHECK(read->method.empty());
    CHECK(read->user_agent == "curl/8");
  }
}

TEST_CASE("escaped parts are what they stand for, each line by itself") {
  TextLineReader reader;
  const auto read = reader.read(
      R"(a.example - j doe [10/Oct/2000:20:55:36 +0000] "GET /\x22\\\"\t\xC3\xA4\xZZ HTTP/1.1" 200 - )"
      R"("\\" "a\"b\q\")");
  REQUIRE(read.has_value());
  CHECK_FALSE(read->client);
  CHECK(read->user == "j doe");
  CHECK(read->target == "/\"\\\"\t\xC3\xA4\\xZZ");
  CHECK(read->referer == "\\");
  CHECK(read->user_agent.empty());  // it has no end: the line is cut off
  const auto next =
      reader.read(R"(a - - [10/Oct/2000:20:55:36 +0000] "GET /plain HTTP/1.1" - 0 "-" "x\\\"y")");
  REQUIRE(next.has_value());
  CHECK(next->target == "/plain");
  CHECK_FALSE(next->status);
  CHECK(next->user_agent == "x\\\"y");
}

TEST_CASE("what is not a request line was not valid HTTP") {
  TextLineReader reader;
  for (const char* const line : {"", "GET", "GET /", "GET HTTP/1.1", R"(\x16\x03\x01 a b)"}) {
    CAPTURE(line);
    const auto read = reader.read("192.0.2.1 - - [10/Oct/2000:20:55:36 +0000] \"" +
                                  std::string(line) + "\" 400 0");
    REQUIRE(read.has_value());
    CHECK(read->method.empty());
  }
  const auto blank =
      reader.read("192.0.2.1 - - [10/Oct/2000:20:55:36 +0000] \"GET /a b HTTP/1.1\" 400 0");
  REQUIRE(blank.has_value());
  CHECK(blank->target == "/a b");
}

TEST_CASE("a line of another form has its fault") {
  const std::string begin = "192.0.2.1 - - [10/Oct/2000:20:55:36 +0000] ";
  for (const std::string& line :
       {std::string(), std::string("192.0.2.1"), std::string("192.0.2.1 - -"), begin,
        begin + "\"GET / HTTP/1.1", begin + "\"GET / HTTP/1.1\"", begin + "GET / 200 0",
        std::string("{\"time\":\"2000-10-10T20:55:36Z\"}")}) {
    CAPTURE(line);
    CHECK(fault_of(line) == LineFault::form);
  }
  for (const char* year : {"1969", "2100"})
    CHECK(fault_of(std::string("a - - [31/Dec/") + year + ":23:59:59 +0000] \"-\" 200 0") ==
          LineFault::time);
  CHECK(fault_of("a - - [10/Okt/2000:20:55:36 +0000] \"-\" 200 0") == LineFault::time);
  for (const std::string status : {"20x", "99", "600", "-1"})
    CHECK(fault_of(begin + "\"-\" " + status + " 0") == LineFault::status);
  CHECK_THROWS(TextLineReader().read("").value());
}

TEST_CASE("times of a log are instants in any zone, and dates that do not exist are none") {
  CHECK(parse_log_time("10/Oct/2000:13:55:36 -0700") == october);
  CHECK(parse_log_time("11/Oct/2000:02:25:36 +0530") == october);
  CHECK(parse_log_time("29/Feb/2024:00:00:00 +0000") == instant_from_us(1'709'164'800'000'000));
  CHECK(parse_log_time("30/Jun/2015:23:59:60 +0000") == instant_from_us(1'435'708'800'000'000));
  for (const char* const text :
       {"29/Feb/2023:00:00:00 +0000", "10/Oct/2000:24:00:00 +0000", "10/Oct/2000:00:60:00 +0000",
        "10/ctN/2000:00:00:00 +0000", "10/Oct/2000 00:00:00 +0000", "10/Oct/2000:00:00:00 Z0000",
        "-1/Oct/2000:00:00:00 +0000", "10/Oct/2000:00:00:00", "10/Oct/2000:-1:00:00 +0000", ""}) {
    CAPTURE(text);
    CHECK_FALSE(parse_log_time(text));
  }
}

}  // namespace weir::replay
