#include "http/append_number.hpp"

#include <cstdint>
#include <limits>

#include "catch.hpp"

namespace weir::http {
namespace {

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
}  // namespace weir::http
