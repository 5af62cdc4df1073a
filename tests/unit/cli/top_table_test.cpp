#include "cli/top_table.hpp"

#include "catch.hpp"
#include "cli/characters.hpp"

namespace weir::cli {
namespace {

const std::string one_key =
    R"({"by":"denied","window":47.31,"total":{"requests":20,"denied":7,"early_retries":1},)"
    R"("unseen":{"requests":0,"denied":0,"early_retries":0},"keys":[)"
    R"({"hash":"ab","identity":"api_key","client":"::1","policy":"per_user","route":"caf\u00e9",)"
    R"("requests":1234567,"denied":7,"early_retries":1,)"
    R"("error":{"requests":3,"denied":2,"early_retries":0}},)"
    R"({"hash":"cd","identity":"client","client":"192.0.2.1","policy":"p\u001b[0m","route":"login",)"
    R"("requests":5,"denied":0,"early_retries":0,)"
    R"("error":{"requests":0,"denied":0,"early_retries":0}}]})";

TEST_CASE("a list of top keys is a table with aligned columns") {
  const auto table = read_top_table(one_key);
  REQUIRE(table.has_value());
  CHECK(table->summary == "last 48 s, all keys: 20 requests, 7 denied, 1 early retries");
  const auto lines = lines_of(*table);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "REQUESTS  DENIED  EARLY  +/-  POLICY    ROUTE  IDENTITY  CLIENT     KEY");
  CHECK(lines[1] ==
        " 1234567       7      1    2  per_user  caf\u00e9   api_key   ::1        hash:ab");
  // A control character could change the terminal.
  CHECK(lines[2] == "       5       0      0    0  p?[0m     login  client    192.0.2.1  hash:cd");
}

TEST_CASE("a count that is only a bound is shown as one") {
  const auto table = read_top_table(
      R"({"by":"requests","window":1,"total":{"requests":20,"denied":7,"early_retries":1},"keys":[)"
      R"({"hash":"ab","identity":"i","client":"::1","policy":"p","route":"r",)"
      R"("requests":9,"denied":4,"early_retries":3,)"
      R"("error":{"requests":2,"denied":4,"early_retries":1}}]})");
  REQUIRE(table.has_value());
  CHECK(lines_of(*table)[1] ==
        "       9     <=4      3    2  p       r      i         ::1     hash:ab");
}

TEST_CASE("a narrow table has whole keys: names are cut, and then columns left out") {
  const std::string hash(32, 'a');
  TopTable table{.summary = {},
                 .rows = {{"REQUESTS", "DENIED", "EARLY", "+/-", "POLICY", "ROUTE", "IDENTITY",
                           "CLIENT", "KEY"},
                          {"1900", "1800", "<=1690", "4", "per_user_and_hour", "caf\u00e9-au-lait",
                           "api_key", "192.0.2.7", "hash:" + hash}}};
  struct Row {
    std::size_t width;
    std::string header;
    std::string line;  ///< before the hash
  };
  const Row rows[] = {
      {200,
       "REQUESTS  DENIED   EARLY  +/-  POLICY             ROUTE         IDENTITY  CLIENT     KEY",
       "    1900    1800  <=1690    4  per_user_and_hour  caf\u00e9-au-lait  api_key   192.0.2.7  "
       "hash:"},
      {115, "REQUESTS  DENIED   EARLY  +/-  POLICY          ROUTE     IDENTITY  CLIENT     KEY",
       "    1900    1800  <=1690    4  per_user_and_~  caf\u00e9-au~  api_key   192.0.2.7  hash:"},
      {79, "REQUESTS  DENIED  POLICY        IDENTITY  KEY",
       "    1900    1800  per_user_an~  api_key   hash:"},
      {10, "REQUESTS  DENIED  KEY", "    1900    1800  hash:"},
  };
  for (const auto& [width, header, line] : rows) {
    CAPTURE(width);
    CHECK(lines_of(table, width)[0] == header);
    CHECK(lines_of(table, width)[1] == line + hash);
  }
  table.sorted_by = 2;
  CHECK(lines_of(table, 10)[0] == "REQUESTS  DENIED   EARLY  KEY");
  for (std::size_t width = 63; width < 140; ++width) {
    CAPTURE(width);
    const std::string line = lines_of(table, width)[1];
    CHECK(line.ends_with("hash:" + hash));
    CHECK(first_characters(line, width).size() == line.size());
  }
}

TEST_CASE("another answer is no list of top keys") {
  CHECK_FALSE(read_top_table("").has_value());
  CHECK_FALSE(read_top_table("[]").has_value());
  CHECK_FALSE(read_top_table(R"({"by":"requests"})").has_value());
  std::string wrong = one_key;
  wrong.replace(wrong.find("\"denied\":7,\"early_retries\":1,"), 10, "\"denied\":x");
  CHECK_FALSE(read_top_table(wrong).has_value());
}

}  // namespace
}  // namespace weir::cli
