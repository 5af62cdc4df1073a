// The results of bench_load.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace weir::bench {

struct Counts {
  std::uint64_t requests = 0;
  std::uint64_t refused = 0;  ///< answered 429
  std::uint64_t failed = 0;  ///< answered neither 200 nor 429, another echo, or a closed connection
  std::vector<std::uint32_t> latencies = std::vector<std::uint32_t>(1'000'000);  ///< by microsecond

  void add(std::chrono::steady_clock::duration took) {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
    ++requests;
    ++latencies[std::min(static_cast<std::size_t>(us), latencies.size() - 1)];
  }
  std::size_t percentile(std::uint64_t percent) const {
    std::uint64_t left = requests * percent / 100;
    for (std::size_t us = 0; us < latencies.size(); ++us) {
      if (left < latencies[us]) return us;
      left -= latencies[us];
    }
    return latencies.size();
  }
};

}  // namespace weir::bench
