// The hash of a key in the memory store: 64 bits over identity and policy, mixed with secret words
// drawn from the seed, so that clients cannot choose keys that collide. The chance that two of a
// million keys share a hash is 3e-8. Pure; thread-safe.
#pragma once

#include <array>
#include <cstdint>

#include "base/siphash.hpp"

namespace weir::store {

__extension__ using Product = unsigned __int128;

/// floor(fraction / 2^64 * n): a hash as a position among n, keeping its order (Lemire, "Fast
/// random integer generation in an interval", 2019).
constexpr std::uint64_t scaled(std::uint64_t hash, std::uint64_t n) {
  return static_cast<std::uint64_t>(Product{hash} * n >> 64);
}

class KeyHash {
 public:
  explicit constexpr KeyHash(std::uint64_t seed) {
    for (auto& word : secret_)
      word = next(seed);
  }

  /// Never 0, which marks an empty slot.
  constexpr std::uint64_t operator()(const Hash128& identity, std::uint32_t policy_id) const {
    const std::uint64_t who = folded(identity.low ^ secret_[0], identity.high ^ secret_[1]);
    const std::uint64_t hash = folded(who ^ secret_[2], policy_id + secret_[3]);
    return hash == 0 ? 1 : hash;
  }

 private:
  static constexpr std::uint64_t folded(std::uint64_t a, std::uint64_t b) {
    const Product product = Product{a} * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  /// SplitMix64 (Steele, Lea and Flood, 2014): independent words from one seed.
  static constexpr std::uint64_t next(std::uint64_t& seed) {
    std::uint64_t word = seed += 0x9e3779b97f4a7c15;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
    word = (word ^ word >> 27) * 0x94d049bb133111eb;
    return word ^ word >> 31;
  }

  std::array<std::uint64_t, 4> secret_{};
};

}  // namespace weir::store
