#include "proxy/watchdog.hpp"

#include "loop/ticks.hpp"

namespace weir::proxy {

void Watchdog::arm(Phase phase, Duration timeout) {
  begin(phase);
  wheel_.arm(*this, loop::ticks_in(timeout));
}

void Watchdog::disarm(Phase phase) {
  phase_ = phase;
  wheel_.disarm(*this);
}

void Watchdog::begin(Phase phase) {
  phase_ = phase;
  interruptions_.timed_out = false;
}

void Watchdog::on_deadline() {
  interruptions_.timed_out = true;
  wheel_.arm(*this, 0);
  if (other_ != nullptr) other_->cancel();
  // The client is not awaited in these phases, and its next request may be on its way.
  if (phase_ != Phase::connect && phase_ != Phase::response) client_.cancel();
}

void Watchdog::client_left() {
  interruptions_.client_left = true;
  if (other_ != nullptr) other_->cancel();
}

void Watchdog::abort() {
  interruptions_.aborted = true;
  const bool is_cut = phase_ == Phase::relay || phase_ == Phase::body || phase_ == Phase::tunnel;
  const auto end = is_cut ? &loop::Cancellable::reset : &loop::Cancellable::close;
  if (other_ != nullptr) (other_->*end)();
  (client_.*end)();
}

}  // namespace weir::proxy
