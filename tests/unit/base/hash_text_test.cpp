#include "base/hash_text.hpp"

#include <string>

#include "catch.hpp"

using namespace weir;

TEST_CASE("A hash is 32 hexadecimal digits") {
  CHECK(hash_from_hex("1234567890abcdef0000000000000abc") ==
        Hash128{.low = 0xabc, .high = 0x1234567890abcdef});
  for (const std::string& other :
       {std::string(31, '0'), std::string(33, '0'), std::string(32, 'g'),
        "-" + std::string(31, '0'), std::string(16, '0') + "-" + std::string(15, '0'),
        std::string()}) {
    CAPTURE(other);
    CHECK_FALSE(hash_from_hex(other).has_value());
  }
}
