#include "proxy/hold_keeper.hpp"

#include <boost/asio/post.hpp>

#include "limiter/waiting.hpp"

namespace weir::proxy {

std::optional<Hash128> HoldKeeper::keep(limiter::HeldUnits& units, Generation& generation,
                                        Duration lease) {
  const auto id = directory_.add(
      units, {.generation = generation, .lease_ends_at = clock_.now() + lease, .owner = *this});
  if (id) kept_.add(1);
  return id;
}

void HoldKeeper::sweep() {
  directory_.end_leases(clock_.now());
  apply_ended();
}

void HoldKeeper::end_all() {
  directory_.end_all(*this);
  apply_ended();
}

void HoldKeeper::wake() noexcept {
  try {
    asio::post(io_, [this] { apply_ended(); });
  } catch (...) {
    // no memory: the next sweep applies it
  }
}

void HoldKeeper::apply_ended() {
  for (const KeptHold& hold : directory_.take_ended(*this)) {
    limiter::Limiter& limiter = *hold.generation->limiter;
    limiter.count_settled(hold.units);
    limiter.store().settle(hold.units.settlements, clock_.now());
    if (auto* const queue = limiter.queue()) limiter::report_released(*queue, hold.units);
    kept_.add(-1);
  }
}

}  // namespace weir::proxy
