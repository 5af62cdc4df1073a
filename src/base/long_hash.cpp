#include "base/long_hash.hpp"

#include <bit>
#include <cstring>

#include <boost/container/small_vector.hpp>

#include "base/eight_bytes.hpp"

namespace weir {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read little-endian");

__extension__ using Wide = unsigned __int128;

/// The two sums of one block, which is at most as long as the key without its last two words.
struct Sums {
  Wide first = 0;
  Wide second = 0;

  void add(std::uint64_t low, std::uint64_t high, const std::uint64_t* key) {
    first += Wide{low + key[0]} * (high + key[1]);
    second += Wide{low + key[2]} * (high + key[3]);
  }
};

Sums sums_of(std::string_view block, const std::uint64_t* key) {
  Sums sums;
  const char* at = block.data();
  std::size_t left = block.size();
  for (; left >= 16; at += 16, left -= 16, key += 2)
    sums.add(eight_bytes(at), eight_bytes(at + 8), key);
  if (left > 0) {
    std::array<char, 16> last{};
    std::memcpy(last.data(), at, left);
    sums.add(eight_bytes(last.data()), eight_bytes(last.data() + 8), key);
  }
  return sums;
}

}  // namespace

LongHash::LongHash(SipKey key) : key_(key) {
  for (std::size_t i = 0; i < block_key_.size(); i += 2) {
    std::array<char, 9> number{'k'};
    std::memcpy(number.data() + 1, &i, sizeof i);
    const Hash128 words = siphash128(key, {number.data(), number.size()});
    block_key_[i] = words.low;
    block_key_[i + 1] = words.high;
  }
}

Hash128 LongHash::operator()(std::string_view text) const {
  constexpr std::size_t block_size = 8 * block_words;
  boost::container::small_vector<char, sizeof(Sums) * 8 + 8> sums;
  const auto append = [&](const auto& value) {
    const auto* const bytes = reinterpret_cast<const char*>(&value);
    sums.insert(sums.end(), bytes, bytes + sizeof value);
  };
  append(std::uint64_t{text.size()});
  for (std::size_t at = 0; at < text.size(); at += block_size)
    append(sums_of(text.substr(at, block_size), block_key_.data()));
  return siphash128(key_, {sums.data(), sums.size()});
}

}  // namespace weir
