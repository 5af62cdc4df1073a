#include "base/siphash.hpp"

#include <string>

#include "catch.hpp"

namespace weir {
namespace {

// Key 00 01 .. 0f, read as two little-endian words.
constexpr SipKey published_key{.k0 = 0x0706050403020100, .k1 = 0x0f0e0d0c0b0a0908};

std::string message(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<char>(i);
  return bytes;
}

/// The bytes as they are in memory.
void append_bytes(std::string& out, std::uint64_t word) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (int i = 0; i < 8; ++i, word >>= 8) {
    out += digits[word >> 4 & 15];
    out += digits[word & 15];
  }
}

std::string hex(Hash128 hash) {
  std::string out;
  append_bytes(out, hash.low);
  append_bytes(out, hash.high);
  return out;
}

// vectors.h of the reference implementation: messages 00 01 02 .. of each length around the ends of
// words.
struct Vector {
  std::size_t size;
  const char* hash;
};
constexpr Vector vectors[] = {
    {0, "a3817f04ba25a8e66df67214c7550293"},  {1, "da87c1d86b99af44347659119b22fc45"},
    {2, "8177228da4a45dc7fca38bdef60affe4"},  {3, "9c70b60c5267a94e5f33b6b02985ed51"},
    {4, "f88164c12d9c8faf7d0f6e7c7bcd5579"},  {7, "a1f1ebbed8dbc153c0b84aa61ff08239"},
    {8, "3b62a9ba6258f5610f83e264f31497b4"},  {9, "264499060ad9baabc47f8b02bb6d71ed"},
    {15, "5493e99933b0a8117e08ec0f97cfc3d9"}, {16, "6ee2a4ca67b054bbfd3315bf85230577"},
    {31, "2939b0183223fafc1723de4f52c43d35"}, {32, "7c3956ca5eeafc3e363e9d556546eb68"},
    {62, "5853542321f567a005d547a4f04759bd"}, {63, "5150d1772f50834a503e069a973fbd7c"},
};

TEST_CASE("SipHash-2-4 gives the published values") {
  for (const Vector& vector : vectors) {
    INFO(vector.size);
    CHECK(hex(siphash128(published_key, message(vector.size))) == vector.hash);
  }
}

TEST_CASE("a hash is shown by all of its digits, the higher half first") {
  std::string out = "of ";
  append_hex(out, {.low = 0x0123456789abcdef, .high = 0xfe});
  CHECK(out == "of 00000000000000fe0123456789abcdef");
}

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

TEST_CASE("a key is made of any secret") {
  const auto hash_with = [](std::string_view secret) {
    return siphash128(sip_key_from_secret(secret), "x");
  };
  CHECK(hash_with("") == hash_with(""));
  CHECK(hash_with("a") != hash_with(""));
  CHECK(hash_with("a") != hash_with("b"));
  CHECK(hash_with(std::string(1000, 'a')) != hash_with(std::string(1001, 'a')));
  const SipKey key = sip_key_from_secret("a");
  CHECK(key.k0 != key.k1);
}

}  // namespace
}  // namespace weir
