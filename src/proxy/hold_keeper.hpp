// The holds of one worker that other proxies settle: adds them to the directory, and applies their
// settlements to the store of the configuration that admitted the request.
//
// Used from its worker's loop only, except wake().
#pragma once

#include <optional>

#include "base/clock.hpp"
#include "base/counters.hpp"
#include "loop/io.hpp"
#include "proxy/hold_directory.hpp"

namespace weir::proxy {

class HoldKeeper final : public HoldOwner {
 public:
  /// All of them outlive the keeper.
  HoldKeeper(HoldDirectory& directory, asio::io_context& io, const MonotonicClock& clock,
             Gauge& kept)
      : directory_(directory), io_(io), clock_(clock), kept_(kept) {}
  ~HoldKeeper() override { directory_.withdraw(*this); }

  /// Takes over the units of an admitted request and returns the id of the hold. Empty: the
  /// directory is full. `units` are unchanged then, and if there is no memory.
  std::optional<Hash128> keep(limiter::HeldUnits& units, Generation& generation, Duration lease);
  /// HoldDirectory::settle(). A hold of this worker is applied at once.
  template <class Compute>
  bool settle(const Hash128& id, Compute&& compute) {
    const bool is_known = directory_.settle(id, *this, compute);
    if (is_known) apply_ended();
    return is_known;
  }
  /// Ends the leases that are over, and applies all settlements of this worker's holds.
  void sweep();
  /// The worker stops: ends all its holds as if their leases were over, and applies that.
  void end_all();

 private:
  void wake() noexcept override;
  void apply_ended();

  HoldDirectory& directory_;
  asio::io_context& io_;
  const MonotonicClock& clock_;
  Gauge& kept_;  ///< the number of holds
};

}  // namespace weir::proxy
