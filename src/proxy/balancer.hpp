// Which server of an upstream takes the next request. Pure: the same calls give the same answers.
//
// Round robin is nginx's smooth weighted one: with each choice every server that may be chosen is
// credited its weight, and the one with the most credit is taken and pays what all were credited,
// so that the turns of a heavy server lie between those of the others. Least connections takes the
// fewest requests under way for the weight, and those that are level in turn. Not thread-safe.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "upstream/upstream.hpp"

namespace weir::proxy {

/// Servers of one upstream, by their index.
using ServerSet = std::bitset<upstream::server_limit>;

class Balancer {
 public:
  Balancer(upstream::Balance balance, const std::vector<upstream::Server>& servers);

  /// One of `eligible`; nothing if there is none. `active` holds the requests under way, of each
  /// server.
  std::optional<std::size_t> choose(const ServerSet& eligible,
                                    std::span<const std::uint32_t> active);

 private:
  struct Share {
    std::int64_t weight = 1;
    std::int64_t credit = 0;
  };
  ServerSet least_busy(const ServerSet& eligible, std::span<const std::uint32_t> active) const;
  std::optional<std::size_t> next_in_turn(const ServerSet& eligible);

  upstream::Balance balance_;
  std::vector<Share> shares_;
};

}  // namespace weir::proxy
