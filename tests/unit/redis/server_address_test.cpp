#include "redis/server_address.hpp"

#include "catch.hpp"

using namespace weir;

TEST_CASE("the address of a server for error texts, and whether its host is looked up") {
  struct Row {
    const char* host;
    const char* unix_path;
    const char* text;
    bool needs_lookup;
  };
  const auto row =
      GENERATE(values<Row>({{"redis.example", "", "redis.example:6380", true},
                            {"localhost", "", "localhost:6380", true},
                            {"127.0.0.1", "", "127.0.0.1:6380", false},
                            {"::1", "", "[::1]:6380", false},
                            // A zone is a name of an interface, which the resolver reads.
                            {"fe80::1%eth0", "", "[fe80::1%eth0]:6380", true},
                            {"1.2.3", "", "1.2.3:6380", true},
                            {"", "/run/redis.sock", "/run/redis.sock", false}}));
  CAPTURE(row.host, row.unix_path);
  options::Redis options;
  options.host = row.host;
  options.unix_path = row.unix_path;
  options.port = 6380;
  CHECK(redis::server_text(options) == row.text);
  CHECK(redis::needs_lookup(options) == row.needs_lookup);
}
