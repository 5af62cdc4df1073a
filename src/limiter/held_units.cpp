#include "limiter/held_units.hpp"

namespace weir::limiter {

void end(HeldUnits& held, const RequestEnd& how) {
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
