// The seed and the length of random histories.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include "catch.hpp"

namespace weir {

/// Reads WEIR_TEST_SEED: a number, or `random` for a new one in each run. Without it the seed is
/// always the same. While an object lives, Catch prints the seed with each failure.
class TestSeed {
 public:
  // Converts without a call, because it stands where a random number engine expects its seed.
  operator std::uint32_t() const { return value(); }  // NOLINT(google-explicit-constructor)

 private:
  static std::uint32_t read() {
    const char* const given = std::getenv("WEIR_TEST_SEED");
    if (given == nullptr) return 20261126;
    if (std::string_view(given) == "random") return std::random_device{}();
    return static_cast<std::uint32_t>(std::stoul(given));
  }
  static std::uint32_t value() {
    static const std::uint32_t value = read();
    return value;
  }

  Catch::ScopedMessage shown_{
      Catch::MessageBuilder("INFO", CATCH_INTERNAL_LINEINFO, Catch::ResultWas::Info)
      << "WEIR_TEST_SEED=" << value()};
};

/// Returns how many steps of a random history run: all of them, and a tenth under a sanitizer, with
/// which a step takes several times as long. A sanitizer reports what the code does to memory and
/// threads, for which a tenth is enough; the release build compares the results of all steps.
template <class Count>
constexpr Count history_length(Count all) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return all / 10;
#else
  return all;
#endif
}

}  // namespace weir
