#include "usage/number_reader.hpp"

#include <algorithm>
#include <random>
#include <string>

#include "catch.hpp"
#include "seed.hpp"

namespace weir::usage {
namespace {

TEST_CASE("whole numbers in any notation are counts") {
  struct Row {
    std::string text;
    std::int64_t count;
  };
  const std::string zeros(400, '0');
  const Row rows[] = {
      {"0", 0},
      {"-0", 0},
      {"-0.0e5", 0},
      {"7", 7},
      {"29", 29},
      {"1e3", 1000},
      {"1E3", 1000},
      {"1e+03", 1000},
      {"1.0e2", 100},
      {"2.50E+2", 250},
      {"12.0", 12},
      {"12.5e1", 125},
      {"1200e-2", 12},
      {"0e99999999999999999999", 0},
      {"0.000", 0},
      {"1" + zeros + "e-400", 1},
      {"0." + zeros + "5e401", 5},
      {"1." + zeros, 1},
      // 2^53 - 1 is the largest
      {"9007199254740991", 9007199254740991},
      {"9007199254740990", 9007199254740990},
      {"9007199254740992", largest_count},
      {"9007199254740993", largest_count},
      {"18446744073709551617", largest_count},
      {"999999999999999999999999999999", largest_count},
      {"1e15", 1000000000000000},
      {"1e16", largest_count},
      {"1e400", largest_count},
      {"1e99999999999999999999", largest_count},
      {"1" + zeros, largest_count},
      {"123456789012345678901.5e1", largest_count},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(parse_count(row.text) == row.count);
  }
}

TEST_CASE("everything else is not a count") {
  for (const char* text : {// negative, or a fraction
                           "-1", "-1e3", "-0.1", "0.5", "12.5", "1e-1", "1.25e1",
                           "123456789012345678901.5", "1e-99999999999999999999", "1205e-2",
                           // not a number of RFC 8259
                           "", "-", "+1", "01", "-01", "00", "1.", ".5", "1.e1", "1e", "1e+", "1E-",
                           "1.5.1", "1e1.0", "1e1e1", "1-", "--1", "0x10", "1_000", "1,000", " 1",
                           "1 ", "NaN", "Infinity", "-Infinity", "null", "true", "\"1\"", "1a"}) {
    INFO(text);
    CHECK(parse_count(text) == std::nullopt);
  }
}

/// Writes the number without an exponent and compares texts: slow, and without arithmetic.
std::optional<std::int64_t> model(const std::string& whole, const std::string& fraction,
                                  int exponent) {
  std::string digits = whole + fraction;
  auto point = static_cast<int>(whole.size()) + exponent;
  if (point < 0) {
    digits.insert(0, static_cast<std::size_t>(-point), '0');
    point = 0;
  }
  if (static_cast<std::size_t>(point) > digits.size())
    digits.resize(static_cast<std::size_t>(point), '0');
  if (digits.find_first_not_of('0', static_cast<std::size_t>(point)) != std::string::npos)
    return std::nullopt;
  std::string integer = digits.substr(0, static_cast<std::size_t>(point));
  integer.erase(0, integer.find_first_not_of('0'));
  const std::string largest = std::to_string(largest_count);
  if (integer.size() > largest.size() || (integer.size() == largest.size() && integer > largest))
    return largest_count;
  return integer.empty() ? 0 : std::stoll(integer);
}

TEST_CASE("numbers of any length agree with their digits written out, in any two pieces") {
  const TestSeed seed;
  std::mt19937 random{seed};
  const auto digits = [&](std::size_t size) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i)
      text += random() % 2 == 0 ? '0' : static_cast<char>('0' + random() % 10);
    return text;
  };
  for (int i = 0; i < 20000; ++i) {
    std::string whole = digits(1 + random() % 25);
    whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size() - 1));
    const std::string fraction = digits(random() % 3 == 0 ? random() % 25 : 0);
    const int exponent = random() % 2 == 0 ? static_cast<int>(random() % 61) - 30 : 0;
    std::string text = whole;
    if (!fraction.empty()) text += "." + fraction;
    if (exponent != 0 || random() % 4 == 0)
      text += (random() % 2 == 0 ? "e" : "E") + std::string(exponent >= 0 ? "+" : "") +
              std::to_string(exponent);
    INFO(text);
    const auto expected = model(whole, fraction, exponent);
    REQUIRE(parse_count(text) == expected);
    const std::size_t cut = random() % (text.size() + 1);
    NumberReader reader;
    reader.accept(std::string_view(text).substr(0, cut));
    reader.accept(std::string_view(text).substr(cut));
    REQUIRE(reader.value() == expected);
  }
}

}  // namespace
}  // namespace weir::usage
