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
void end(HeldUnits& held, const RequestEnd& how);

}  // namespace weir::limiter
