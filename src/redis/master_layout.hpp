// Which master has which slots, as a worker has found it, and a line for the log when they change.
//
// Pure; thread-safe.
#pragma once

#include <string>

#include "redis/slot_ranges.hpp"

namespace weir::redis {

struct MasterLayout {
  /// `sentinel_master`; empty: a cluster.
  std::string name{};
  /// In the order of the slots; neighbours of one master are one range. The master that sentinels
  /// return has all slots.
  SlotRanges ranges{};
  friend bool operator==(const MasterLayout&, const MasterLayout&) = default;
};

/// The servers that have slots, sorted: `10.0.0.1:6379, 10.0.0.2:6379`.
std::string masters_text(const MasterLayout& layout);

/// Which server has taken over how many slots from which, which servers have slots now and had none
/// before, and which have none any more. With sentinels: which server replaces which. Names at most
/// ten takeovers, the largest first, and ten servers.
std::string change_text(const MasterLayout& before, const MasterLayout& after);

}  // namespace weir::redis
