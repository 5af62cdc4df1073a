#include "rls/whole_number.hpp"

#include "catch.hpp"

namespace weir::rls {
namespace {

TEST_CASE("a whole number of JSON is read in each of its forms") {
  struct Row {
    std::string_view text;
    std::uint64_t magnitude;
    bool is_negative = false;
  };
  const Row rows[] = {
      {"0", 0},
      {"-0", 0},
      {"7", 7},
      {"-7", 7, true},
      {"1.0", 1},
      {"1e2", 100},
      {"1E+2", 100},
      {"1.50e1", 15},
      {"12.50e2", 1250},
      {"100e-1", 10},
      {"10.0e-1", 1},
      {"100.00e-2", 1},
      {"0.5e1", 5},
      {"0.0e5", 0},
      {"0e99", 0},
      {"-0e-99999999999999999999", 0},
      {"18446744073709551615", 18'446'744'073'709'551'615U},
      {"18446744073709551615.000", 18'446'744'073'709'551'615U},
      {"1.8446744073709551615e19", 18'446'744'073'709'551'615U},
      {"1000000000000000000000000e-24", 1},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(read_whole_number(row.text) ==
          WholeNumber{.is_negative = row.is_negative, .magnitude = row.magnitude});
  }
}

TEST_CASE("other text and other numbers are refused") {
  for (const std::string_view text : {"",
                                      "-",
                                      "+1",
                                      "01",
                                      "00",
                                      "-01",
                                      " 1",
                                      "1 ",
                                      "1.",
                                      ".1",
                                      "1e",
                                      "1e+",
                                      "e1",
                                      "0x1",
                                      "1,2",
                                      "one",
                                      "1.5",
                                      "1e-1",
                                      "10e-2",
                                      "15e-1",
                                      "1e-99999999999999999999",
                                      "18446744073709551616",
                                      "18446744073709551620",
                                      "184467440737095516150",
                                      "1e20",
                                      "1e99999999999999999999",
                                      "1.0.0",
                                      "--1",
                                      "1e1e1"}) {
    CAPTURE(text);
    CHECK_FALSE(read_whole_number(text).has_value());
  }
}

}  // namespace
}  // namespace weir::rls
