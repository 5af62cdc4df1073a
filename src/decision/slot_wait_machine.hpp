// The wait of one denied request for a slot of a concurrency limit: which question it asks next, or
// when, and what ends the wait. docs/holds.md describes the effect.
//
// The request holds nothing while it waits, and takes the units of all its limits at once. Pure:
// the caller sends the questions and waits, and time and random bits are arguments. Belongs to one
// worker; other threads only call the ticket.
#pragma once

#include <cstdint>

#include "base/counters.hpp"
#include "base/time.hpp"
#include "limiter/limiter.hpp"
#include "limiter/slot_queue.hpp"
#include "store/store.hpp"

namespace weir::decision {

class SlotWaitMachine {
 public:
  enum class Step : std::uint8_t {
    pause,  ///< until pause_until(), or until the ticket is called: then on_pause_end()
    look,   ///< read the keys (Limiter::ask_again), then on_look()
    ask,    ///< decide the claims again, then on_answer()
    end,    ///< the evaluation has its verdict
  };

  /// `limiter` has a queue; `evaluation` is that of a denied request with `waits_for`. All outlive
  /// the machine.
  SlotWaitMachine(limiter::Limiter& limiter, limiter::Evaluation& evaluation,
                  limiter::QueueTicket& ticket)
      : limiter_(limiter), evaluation_(evaluation), ticket_(ticket), queue_(*limiter.queue()) {}
  ~SlotWaitMachine() { leave(limiter::SlotQueue::Leaves::denied); }
  SlotWaitMachine(const SlotWaitMachine&) = delete;
  SlotWaitMachine& operator=(const SlotWaitMachine&) = delete;

  // Each returns the next step.
  Step begin(Instant now);
  /// `is_interrupted`: the request gives up, for example because its client has left.
  Step on_pause_end(Instant now, bool is_interrupted);
  Step on_look(const store::Result& result, Instant now, std::uint64_t random);
  Step on_answer(const store::Result& result, Instant now, std::uint64_t random);

  Instant pause_until() const { return pause_until_; }

 private:
  Step pause();
  Step give_up();
  Step deny_again(store::Decider decider, Instant now, std::uint64_t random);
  void count_queued();
  void leave(limiter::SlotQueue::Leaves how);
  void set_gauge(Gauge* gauge);

  limiter::Limiter& limiter_;
  limiter::Evaluation& evaluation_;
  limiter::QueueTicket& ticket_;
  limiter::SlotQueue& queue_;
  Instant last_{};  ///< the end of the longest wait
  Instant pause_until_{};
  store::Key asked_for_;     ///< the key in whose line it is
  Gauge* queued_ = nullptr;  ///< of the policy in whose line it is
};

}  // namespace weir::decision
