// Selects the server of an upstream for the next request. Pure: the same calls give the same
// results.
//
// Round robin is nginx's smooth weighted round robin: each choice credits every eligible server
// with its weight and takes the one with the most credit, which then pays the sum of these credits.
// The turns of a heavy server are thus interleaved with those of the others. Least connections
// takes the server with the fewest requests in progress in proportion to its weight; servers that
// are level take turns. Not thread-safe.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "options/upstream.hpp"

namespace weir::upstream {

/// Servers of one upstream, by index.
using ServerSet = std::bitset<options::server_limit>;

class Balancer {
 public:
  Balancer(options::Balance balance, const std::vector<options::Server>& servers);

  /// Returns one of `eligible`, or nothing if it is empty. `active` holds the number of requests in
  /// progress at each server.
  std::optional<std::size_t> choose(const ServerSet& eligible,
                                    std::span<const std::uint32_t> active);

 private:
  struct Turn {
    std::int64_t weight = 1;
    std::int64_t credit = 0;
  };
  ServerSet least_busy(const ServerSet& eligible, std::span<const std::uint32_t> active) const;
  std::optional<std::size_t> next_in_turn(const ServerSet& eligible);

  options::Balance balance_;
  std::vector<Turn> turns_;
};

}  // namespace weir::upstream
