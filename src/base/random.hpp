// Random numbers that spread load. Not for secrets.
#pragma once

#include <cstdint>

namespace weir {

/// A number from the system's entropy, to seed a Random. Thread-safe.
std::uint64_t random_seed();

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). The
/// same seed gives the same numbers. Not thread-safe.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
  }

 private:
  std::uint64_t state_;
};

}  // namespace weir
