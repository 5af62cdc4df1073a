// The units that an admitted request holds until it ends, and what they are charged then. Pure.
#pragma once

#include <optional>
#include <vector>

#include "limiter/charge.hpp"
#include "limiter/policy.hpp"
#include "store/store.hpp"
#include "usage/usage_scanner.hpp"

namespace weir::limiter {

/// A limit of the request that holds units, and how that ended.
struct HeldLimit {
  const Policy* policy = nullptr;
  const Charge* charge = nullptr;        ///< nullptr: nothing is charged
  std::optional<usage::Usage> stated{};  ///< by the response; empty: none was read for it
  std::optional<SettledBy> by{};         ///< empty: not settled yet, or nothing to determine
};

struct HeldUnits {
  /// Until end() they release the holds and charge nothing.
  std::vector<store::Settlement> settlements;
  std::vector<HeldLimit> limits;  ///< limits[i] belongs to settlements[i]

  void clear() {
    settlements.clear();
    limits.clear();
  }
};

/// Computes what the units are charged. To be called once, before they are settled.
inline void end(HeldUnits& held, const RequestEnd& how) {
  for (std::size_t i = 0; i < held.limits.size(); ++i) {
    HeldLimit& limit = held.limits[i];
    if (limit.charge == nullptr) {
      if (how.lease_has_ended) limit.by = SettledBy::lease;
      continue;
    }
    const Settled settled = settle(*limit.charge, held.settlements[i].held, how, limit.stated);
    held.settlements[i].actual = settled.units;
    limit.by = settled.by;
  }
}

}  // namespace weir::limiter
