#include "grpc/fields.hpp"

#include <string>
#include <string_view>

#include "catch.hpp"

namespace weir::grpc {
namespace {

TEST_CASE("a content type is that of gRPC with any format") {
  CHECK(is_grpc("application/grpc"));
  CHECK(is_grpc("application/grpc+proto"));
  CHECK(is_grpc("application/grpc+json"));
  CHECK(is_grpc("application/grpc;charset=utf-8"));
  CHECK(is_grpc("application/grpc ; charset=utf-8"));
  CHECK(is_grpc("Application/gRPC"));
  CHECK_FALSE(is_grpc("application/grpc-web"));
  CHECK_FALSE(is_grpc("application/grpc-web+proto"));
  CHECK_FALSE(is_grpc("application/grpcx"));
  CHECK_FALSE(is_grpc("application/grp"));
  CHECK_FALSE(is_grpc("application/json"));
  CHECK_FALSE(is_grpc(""));
}

TEST_CASE("a timeout is at most eight digits and a unit") {
  struct Row {
    std::string_view text;
    std::int64_t us;  ///< -1: not valid
  };
  const Row row = GENERATE(values<Row>({
      {"2H", 7'200'000'000},
      {"3M", 180'000'000},
      {"1S", 1'000'000},
      {"100m", 100'000},
      {"5u", 5},
      {"99999999H", 359'999'996'400'000'000},
      // Nanoseconds are rounded up.
      {"1n", 1},
      {"1000n", 1},
      {"1001n", 2},
      {"0n", 0},
      // Not valid.
      {"100000000m", -1},
      {"", -1},
      {"1", -1},
      {"m", -1},
      {"1s", -1},
      {"1h", -1},
      {"-1m", -1},
      {"1.5S", -1},
      {" 1S", -1},
  }));
  CAPTURE(row.text);
  const auto timeout = parse_timeout(row.text);
  CHECK((timeout ? to_us(*timeout) : -1) == row.us);
}

TEST_CASE("a message is percent-encoded but for printable ASCII") {
  struct Row {
    std::string_view text;
    std::string_view encoded;
  };
  const Row row = GENERATE(values<Row>({
      {"", ""},
      {"quota \"per-ip\" exceeded", "quota \"per-ip\" exceeded"},
      {" !$&~", " !$&~"},
      {"100%", "100%25"},
      {"a\r\nb\x7f", "a%0D%0Ab%7F"},
      {"\xc3\xa9", "%C3%A9"},
  }));
  std::string out;
  {
    Appender to(out);
    append_message(to, row.text);
  }
  CHECK(out == row.encoded);
}

}  // namespace
}  // namespace weir::grpc
