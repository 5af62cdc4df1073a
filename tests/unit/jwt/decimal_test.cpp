#include "jwt/decimal.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include "catch.hpp"

namespace weir::jwt {
namespace {

TEST_CASE("equal numbers have one text") {
  struct Row {
    const char* number;
    std::string text;
  };
  for (const auto& row : {
           // integers
           Row{"0", "0"},
           Row{"-0", "0"},
           Row{"0.000", "0"},
           Row{"-0e5", "0"},  //
           Row{"5", "5"},
           Row{"5.0", "5"},
           Row{"50e-1", "5"},
           Row{"0.5E+1", "5"},
           Row{"-5", "-5"},
           Row{"1200", "1200"},
           Row{"12e2", "1200"},
           Row{"18446744073709551616", "18446744073709551616"},
           Row{"123456789012345678901234567890", "123456789012345678901234567890"},
           // fractions
           Row{"1.5", "1.5"},
           Row{"1.50", "1.5"},
           Row{"-0.05", "-0.05"},
           Row{"5e-3", "0.005"},
           Row{"10.01", "10.01"},
           // what would need many zeros
           Row{"1e64", "1e64"},
           Row{"1e63", "1" + std::string(63, '0')},
           Row{"10e300", "1e301"},
           Row{"1e-64", "0." + std::string(63, '0') + "1"},
           Row{"-1e-65", "-1e-65"},
           Row{"1e99999999999999999999", "1e1000000000"},
       }) {
    INFO(row.number);
    CHECK(canonical_text(read_decimal(row.number)) == row.text);
  }
}

TEST_CASE("a NumericDate becomes an instant") {
  struct Row {
    const char* number;
    std::optional<std::int64_t> us;
  };
  for (const auto& row : {
           Row{"0", 0},
           Row{"-0.0", 0},
           Row{"1", 1'000'000},
           Row{"1300819380", 1'300'819'380'000'000},
           Row{"1.30081938e9", 1'300'819'380'000'000},
           // fractions, exact
           Row{"1300819380.5", 1'300'819'380'500'000},
           Row{"0.000001", 1},
           Row{"0.0000019", 1},
           Row{"0.0000001", 0},
           Row{"1e-300", 0},
           Row{"1e-99999999999999999999", 0},
           Row{"1700000000.123456789012345678901234567890", 1'700'000'000'123'456},
           // the last second of the year 9999
           Row{"253402300799", 253'402'300'799'000'000},
           Row{"253402300799.9999999", 253'402'300'799'999'999},
           Row{"253402300800", std::nullopt},
           Row{"9999999999999", std::nullopt},
           // milliseconds, and numbers beyond every integer
           Row{"1700000000000", std::nullopt},
           Row{"9223372036854775807", std::nullopt},
           Row{"18446744073709551617", std::nullopt},
           Row{"1e300", std::nullopt},
           Row{"1e99999999999999999999", std::nullopt},
           // negative numbers
           Row{"-1", std::nullopt},
           Row{"-0.0000001", std::nullopt},
       }) {
    INFO(row.number);
    const auto instant = instant_of(read_decimal(row.number));
    CHECK(instant.has_value() == row.us.has_value());
    if (instant && row.us) CHECK(to_us(*instant) == *row.us);
  }
}

}  // namespace
}  // namespace weir::jwt
