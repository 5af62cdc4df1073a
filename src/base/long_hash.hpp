// A keyed 128-bit hash of texts of some hundred bytes, such as tokens; a quarter of the
// instructions of SipHash.
//
// Each block of 1 KiB is hashed by NH with 64-bit words, twice with keys that are shifted against
// each other (the first layer of UMAC, RFC 4418 section 5.2, with the word size of VMAC: Krovetz
// and Dai, "VHASH security", 2007). SipHash of the results and the length is the hash. Two
// different texts have the same hash with a probability of about 2^-128 over the keys, as long as
// nobody sees hashes: they must stay in the process. Immutable, thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/siphash.hpp"

namespace weir {

class LongHash {
 public:
  /// `key`: secret and random.
  explicit LongHash(SipKey key);

  Hash128 operator()(std::string_view text) const;

 private:
  static constexpr std::size_t block_words = 128;

  SipKey key_;
  std::array<std::uint64_t, block_words + 2> block_key_{};
};

}  // namespace weir
