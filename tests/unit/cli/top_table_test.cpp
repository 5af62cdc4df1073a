#include "cli/top_table.hpp"

#include "catch.hpp"

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
  CHECK(table->summary == "last 48 s: 20 requests, 7 denied, 1 early retries");
  REQUIRE(table->rows.size() == 3);
  CHECK(table->rows[0] ==
        "REQUESTS  DENIED  EARLY  +/-  POLICY    ROUTE  IDENTITY  CLIENT     KEY");
  CHECK(table->rows[1] ==
        " 1234567       7      1    2  per_user  caf\u00e9   api_key   ::1        hash:ab");
  // A control character could change the terminal.
  CHECK(table->rows[2] ==
        "       5       0      0    0  p?[0m     login  client    192.0.2.1  hash:cd");
}

TEST_CASE("a count that is only a bound is shown as one") {
  const auto table = read_top_table(
      R"({"by":"requests","window":1,"total":{"requests":20,"denied":7,"early_retries":1},"keys":[)"
      R"({"hash":"ab","identity":"i","client":"::1","policy":"p","route":"r",)"
      R"("requests":9,"denied":4,"early_retries":3,)"
      R"("error":{"requests":2,"denied":4,"early_retries":1}}]})");
  REQUIRE(table.has_value());
  CHECK(table->rows[1] == "       9     <=4      3    2  p       r      i         ::1     hash:ab");
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
