#include "base/appender.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include "catch.hpp"

namespace weir {
namespace {

using namespace std::string_view_literals;

template <class Append>
std::string appended(std::string text, Append&& append) {
  {
    Appender out(text);
    append(out);
  }
  return text;
}

TEST_CASE("pieces are appended in order, after the text that was there") {
  CHECK(appended("a", [](Appender& out) { out.add("bc").add('d').add("").number(12); }) ==
        "abcd12");
  CHECK(appended("a", [](Appender& out) { out.add_all("bc"sv, ""sv, "d"sv); }) == "abcd");
  CHECK(appended("a", [](Appender&) {}) == "a");
  CHECK(appended("", [](Appender& out) { out.add(std::string_view{}); }).empty());
}

TEST_CASE("numbers are written whole, at the end of the room too") {
  using Limits = std::numeric_limits<std::int64_t>;
  for (std::size_t before = 480; before < 520; ++before) {
    const std::string text(before, 'x');
    CHECK(appended("", [&](Appender& out) { out.add(text).number(Limits::min()); }) ==
          text + "-9223372036854775808");
    CHECK(appended("", [&](Appender& out) {
            out.add(text).number(std::numeric_limits<std::uint64_t>::max());
          }) == text + "18446744073709551615");
    CHECK(appended("", [&](Appender& out) { out.add(text).add('y'); }) == text + 'y');
    CHECK(appended("", [&](Appender& out) { out.add(text).padded<6>(42U); }) == text + "000042");
  }
}

TEST_CASE("padded numbers have zeros before them, and their last digits if they are too long") {
  CHECK(appended("", [](Appender& out) {
          out.padded<2>(7U).add(':').padded<4>(2026U).add(':').padded<2>(123U).add(':').padded<3>(
              0U);
        }) == "07:2026:23:000");
}

TEST_CASE("pieces of any size fit, and the capacity is used before it grows") {
  for (const std::size_t size : {1U, 511U, 512U, 513U, 5'000U, 100'000U}) {
    const std::string piece(size, 'p');
    CHECK(appended("of ", [&](Appender& out) { out.add(piece).add('|').add(piece); }) ==
          "of " + piece + '|' + piece);
  }
  std::string text;
  text.reserve(1'000);
  const auto* const before = text.data();
  {
    Appender out(text);
    for (int i = 0; i < 1'000; ++i)
      out.add('x');
  }
  CHECK(text.size() == 1'000);
  CHECK(text.data() == before);
}

TEST_CASE("numbers are appended in decimal") {
  std::string out = "n=";
  append_number(out, 0);
  append_number(out.append(" "), 1'234'567);
  append_number(out.append(" "), -1);
  append_number(out.append(" "), std::numeric_limits<std::int64_t>::min());
  append_number(out.append(" "), std::numeric_limits<std::uint64_t>::max());
  CHECK(out == "n=0 1234567 -1 -9223372036854775808 18446744073709551615");
}

TEST_CASE("numbers are appended in other bases, in lower case") {
  std::string out;
  append_number<16>(out, 0xabcdefU);
  append_number<2>(out.append(" "), std::numeric_limits<std::int64_t>::min());
  CHECK(out == "abcdef -1" + std::string(63, '0'));
}

}  // namespace
}  // namespace weir
