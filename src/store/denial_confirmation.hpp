// Keeps the remembered denials in agreement with the overrides of the remote store (ADR 0014).
//
// A remembered denial is used without asking, so an override that raises a limit would not apply to
// it. Therefore a denial is used only for `lease` from the question that it answers, or from the
// latest read of the generation, a number that changes with every change of overrides. While
// remembered denials are used, the generation is read again every half lease; if it has changed,
// all denials are discarded. So no denial from before a change is used `lease` after it. Belongs to
// one worker.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "store/denial_memory.hpp"
#include "store/guarded_store.hpp"

namespace weir::store {

class DenialConfirmation final : public GenerationReceiver {
 public:
  /// The longest time for which a denial is used after its confirmation.
  static constexpr Duration lease = std::chrono::milliseconds(250);
  /// From then on after a change no instance uses a denial from before it: the lease, and a margin
  /// for a worker that is busy between reading its clock and using a denial.
  static constexpr Duration settled_after = std::chrono::milliseconds(300);

  /// `memory` has the same lease.
  DenialConfirmation(GuardedStore& remote, DenialMemory& memory)
      : remote_(remote), memory_(memory) {}
  DenialConfirmation(const DenialConfirmation&) = delete;
  DenialConfirmation& operator=(const DenialConfirmation&) = delete;

  /// A remembered denial was used: reads the generation if the last read is half a lease ago.
  void keep_fresh(Instant now) {
    if (is_reading_ || now < memory_.confirmed_at() + lease / 2) return;
    asked_at_ = now;
    is_reading_ = remote_.read_generation(*this);
  }
  /// Reads the generation for the first time; later calls do nothing once it is known. The first
  /// one discards denials, so it is best read before there are any.
  void begin(Instant now) {
    if (!generation_) keep_fresh(now);
  }

  void on_generation(std::uint64_t generation, Instant now) noexcept override {
    is_reading_ = false;
    if (generation_ != generation) memory_.discard(now);
    generation_ = generation;
    memory_.confirm(asked_at_);
  }
  void on_no_generation() noexcept override { is_reading_ = false; }

 private:
  GuardedStore& remote_;
  DenialMemory& memory_;
  std::optional<std::uint64_t> generation_;  ///< empty: not read yet
  Instant asked_at_{};
  bool is_reading_ = false;
};

}  // namespace weir::store
