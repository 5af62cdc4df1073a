#include <string>
#include <vector>

#include "catch.hpp"
#include "config/sections.hpp"

namespace weir::config {
namespace {

options::Redis read_url(const std::string& url) {
  const auto options = parse_redis_url(url);
  INFO(url);
  REQUIRE(options.has_value());
  return *options;
}

std::string url_problem(const std::string& url) {
  const auto options = parse_redis_url(url);
  return options ? "" : options.error().message;
}

TEST_CASE("a URL with a host") {
  struct Row {
    std::string url, host;
    std::uint16_t port;
    std::string user, password;
    int database;
  };
  const std::vector<Row> rows = {
      {"redis://127.0.0.1", "127.0.0.1", 6379, "", "", 0},
      {"redis://127.0.0.1/", "127.0.0.1", 6379, "", "", 0},
      {"REDIS://redis:1/15", "redis", 1, "", "", 15},
      {"redis://redis/999999", "redis", 6379, "", "", 999'999},
      {"redis://[2001:db8::1]:7000/1", "2001:db8::1", 7000, "", "", 1},
      // user and password
      {"redis://:pass@redis", "redis", 6379, "", "pass", 0},
      {"redis://weir:p%40ss%2f%3A%25@redis:1", "redis", 1, "weir", "p@ss/:%", 0},
      {"redis://we%69r:a:b@redis", "redis", 6379, "weir", "a:b", 0},
      {"redis://weir:a@b@redis", "redis", 6379, "weir", "a@b", 0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.url);
    const options::Redis options = read_url(row.url);
    CHECK(options.host == row.host);
    CHECK(options.port == row.port);
    CHECK(options.user == row.user);
    CHECK(options.password.reveal() == row.password);
    CHECK(options.database == row.database);
    CHECK(options.unix_path.empty());
    CHECK_FALSE(options.secure);
  }
}

TEST_CASE("a URL with TLS") {
  CHECK(read_url("rediss://redis.example:6380").secure);
  CHECK(read_url("Rediss://redis.example").port == 6379);
}

TEST_CASE("a URL of a unix socket") {
  CHECK(read_url("unix:///run/redis/redis.sock").unix_path == "/run/redis/redis.sock");
  const options::Redis options = read_url("unix://weir:p%40ss@/run/a%20b.sock?db=2");
  CHECK(options.unix_path == "/run/a b.sock");
  CHECK(options.host.empty());
  CHECK(options.user == "weir");
  CHECK(options.password.reveal() == "p@ss");
  CHECK(options.database == 2);
  const std::string longest = "/" + std::string(106, 'a');
  CHECK(read_url("unix://" + longest).unix_path == longest);
  CHECK(url_problem("unix://" + longest + "a") == "the path of a socket has at most 107 bytes");
}

TEST_CASE("a URL that is not valid has a problem") {
  struct Row {
    std::string url;
    std::string problem;  ///< its beginning
  };
  const std::vector<Row> rows = {
      {"", "expected a URL, such as redis://"},
      {"redis", "expected a URL, such as redis://"},
      {"http://redis", "expected a URL, such as redis://"},
      {"redis:/redis", "expected a URL, such as redis://"},
      {"redis://", "expected redis://HOST:PORT/DATABASE"},
      {"redis://redis:0", "port 0 cannot be connected to"},
      {"redis://redis/1000000", "expected the number of a database, 0 to 999999"},
      {"redis://redis/-1", "expected the number of a database"},
      {"redis://redis/1?db=2", "the URL ends after the number of the database"},
      // user and password
      {"redis://pass@redis", "the user has no password; write USER:PASSWORD@"},
      {"redis://weir:@redis", "the user has no password"},
      {"redis://:a%4@redis", "a % without two hexadecimal digits after it"},
      {"redis://:a%zz@redis", "a % without two hexadecimal digits after it"},
      {"redis://:a%00@redis", "a % without two hexadecimal digits after it"},
      // sockets
      {"unix://run/redis.sock", "expected unix:///PATH"},
      {"unix:///", "expected unix:///PATH"},
      {"unix:///a?database=1", "after the path only ?db=DATABASE is allowed"},
      {"unix:///a?db=x", "expected the number of a database"},
      // characters that cannot be seen
      {"redis://redis ", "the URL contains a space after 13 bytes"},
      {"redis://redis\r\n", "the URL contains a line end after 13 bytes"},
      {"redis://\tredis", "the URL contains a control character after 8 bytes"},
      {"redis://:p\xc2\xa0@redis", "the URL contains a character that is not ASCII after 10 bytes"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.url);
    CHECK(url_problem(row.url).starts_with(row.problem));
  }
}

TEST_CASE("a problem contains nothing of the URL") {
  for (const char* const url :
       {"redis://:s3cret@", "redis://:s3cret%@h", "redis://s3cret@h", "redis://:s3cret@h:0",
        "redis://:s3cret@h/x", "s3cret", "unix://:s3cret@/", "redis://:s3cret @h"}) {
    CAPTURE(url);
    CHECK_FALSE(url_problem(url).empty());
    CHECK(url_problem(url).find("s3cret") == std::string::npos);
  }
}

}  // namespace
}  // namespace weir::config
