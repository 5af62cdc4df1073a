// The steps of a decision for keys that hold units, beside those of store/asked.hpp: for claims
// that hold, and for all claims on a key that has had holds. And the end of a hold.
//
// The caller holds the shard.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "store/asked.hpp"
#include "store/shard.hpp"

namespace weir::store {

/// True if a claim of the chain holds.
bool holds_any(const Asked& leader);

/// As ask().
void ask_beside(Asked& leader, Instant now);

/// As settle(). Units of claims that hold are held instead of charged.
void settle_beside(Asked& leader, Instant now, bool admitted);

struct HoldEnd {
  const rules::Policy* policy = nullptr;  ///< the numbers in force
  std::uint64_t hash = 0;
  std::int64_t held = 0;
  std::int64_t actual = 0;
  std::span<const std::string> attributes{};  ///< as in Settlement
};

/// Ends a hold at the latest instant of the shard. An absent key is charged as a fresh one. Returns
/// false if the units cannot be charged: the key has a state of another algorithm.
bool end_hold(Shard& shard, const HoldEnd& end);

}  // namespace weir::store
