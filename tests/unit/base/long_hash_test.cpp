#include "base/long_hash.hpp"

#include <random>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"

namespace weir {
namespace {

constexpr SipKey key{.k0 = 3, .k1 = 5};

/// A number of 128 bits as four of 32, the lowest first: an independent way to compute the sums.
struct Number {
  std::array<std::uint32_t, 4> parts{};

  void add_product(std::uint64_t a, std::uint64_t b) {
    const std::array<std::uint64_t, 2> as{a & 0xffffffff, a >> 32};
    const std::array<std::uint64_t, 2> bs{b & 0xffffffff, b >> 32};
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 2; ++j)
        add(as[i] * bs[j], i + j);
    }
  }
  void add(std::uint64_t value, std::size_t at) {
    for (; at < 4; ++at) {
      const std::uint64_t sum = parts[at] + (value & 0xffffffff);
      parts[at] = static_cast<std::uint32_t>(sum);
      value = (value >> 32) + (sum >> 32);
    }
  }
};

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8 && i < bytes.size(); ++i)
    number |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return number;
}

std::string bytes_of(std::uint64_t number) {
  std::string bytes;
  for (int i = 0; i < 8; ++i)
    bytes += static_cast<char>(number >> (8 * i));
  return bytes;
}

/// The definition in the header, as it is written there.
Hash128 model(std::string_view text) {
  std::vector<std::uint64_t> words;
  for (std::uint64_t i = 0; i < 130; i += 2) {
    const Hash128 two = siphash128(key, "k" + bytes_of(i));
    words.insert(words.end(), {two.low, two.high});
  }
  std::string sums = bytes_of(text.size());
  for (std::size_t start = 0; start < text.size(); start += 1024) {
    const std::string_view block = text.substr(start, 1024);
    for (const std::size_t shift : {0, 2}) {
      Number sum;
      for (std::size_t i = 0; 16 * i < block.size(); ++i) {
        const std::string_view pair = block.substr(16 * i, 16);
        const std::string_view second = pair.substr(std::min<std::size_t>(8, pair.size()));
        sum.add_product(little_endian(pair.substr(0, 8)) + words[2 * i + shift],
                        little_endian(second) + words[2 * i + 1 + shift]);
      }
      for (const std::uint32_t part : sum.parts) {
        for (int i = 0; i < 4; ++i)
          sums += static_cast<char>(part >> (8 * i));
      }
    }
  }
  return siphash128(key, sums);
}

}  // namespace

TEST_CASE("a long hash equals its definition, for texts of every size around a block") {
  const LongHash hash(key);
  std::mt19937 random(11);
  std::string text;
  for (std::size_t size = 0; size <= 5'000; size += size < 1'060 ? 1 : 997) {
    text.resize(size);
    for (char& c : text)
      c = static_cast<char>(random());
    CAPTURE(size);
    REQUIRE(hash(text) == model(text));
  }
}

TEST_CASE("texts that differ in one bit, in their length or in the order of words differ") {
  const LongHash hash(key);
  for (const std::size_t size : {1, 16, 31, 640, 1'024, 1'025, 3'000}) {
    const std::string zeros(size, '\0');
    std::set<Hash128> seen{hash(zeros), hash(std::string(size + 1, '\0'))};
    std::size_t count = 2;
    for (std::size_t bit = 0; bit < 8 * size; bit += size < 100 ? 1 : 7, ++count) {
      std::string text = zeros;
      text[bit / 8] = static_cast<char>(1U << bit % 8);
      seen.insert(hash(text));
    }
    CHECK(seen.size() == count);
  }
  const std::string a(16, 'a');
  const std::string b(16, 'b');
  CHECK(hash(a + b) != hash(b + a));
  CHECK(hash(std::string(1'024, 'a') + std::string(1'024, 'b')) !=
        hash(std::string(1'024, 'b') + std::string(1'024, 'a')));
}

TEST_CASE("a long hash depends on the key") {
  CHECK(LongHash(key)("text") != LongHash({.k0 = 3, .k1 = 6})("text"));
}

}  // namespace weir
