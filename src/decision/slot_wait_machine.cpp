#include "decision/slot_wait_machine.hpp"

#include <algorithm>

#include "limiter/waiting.hpp"

namespace weir::decision {

using limiter::SlotQueue;

/// It asks at once: a slot may have been released since the denial.
SlotWaitMachine::Step SlotWaitMachine::begin(Instant now) {
  const limiter::Policy& policy = limiter::awaited_policy(evaluation_);
  last_ = now + policy.max_wait;
  asked_for_ = limiter::awaited_key(evaluation_);
  if (!queue_.join(ticket_, asked_for_, policy.queue, now)) {
    limiter_.give_up(evaluation_, false);
    return Step::end;
  }
  count_queued();
  return pause();
}

SlotWaitMachine::Step SlotWaitMachine::on_pause_end(Instant now, bool is_interrupted) {
  if (is_interrupted) return give_up();
  if (queue_.due(ticket_) > now) return now >= last_ ? give_up() : pause();
  queue_.begin(ticket_);
  return limiter::counts_rejected(evaluation_) ? Step::look : Step::ask;
}

SlotWaitMachine::Step SlotWaitMachine::on_look(const store::Result& result, Instant now,
                                               std::uint64_t random) {
  if (limiter::has_room(evaluation_, result)) return Step::ask;
  return deny_again(result.decider, now, random);
}

SlotWaitMachine::Step SlotWaitMachine::on_answer(const store::Result& result, Instant now,
                                                 std::uint64_t random) {
  limiter_.conclude(evaluation_, result);
  if (evaluation_.waits_for) return deny_again(result.decider, now, random);
  leave(result.admitted ? SlotQueue::Leaves::admitted : SlotQueue::Leaves::denied);
  return Step::end;
}

SlotWaitMachine::Step SlotWaitMachine::pause() {
  pause_until_ = std::min(queue_.due(ticket_), last_);
  return Step::pause;
}

SlotWaitMachine::Step SlotWaitMachine::give_up() {
  leave(SlotQueue::Leaves::denied);
  limiter_.give_up(evaluation_, true);
  return Step::end;
}

/// The request goes on waiting, unless another limit denies it now and the line of that one is
/// full.
SlotWaitMachine::Step SlotWaitMachine::deny_again(store::Decider decider, Instant now,
                                                  std::uint64_t random) {
  const auto [least, poll] = limiter::pause_after(decider, random);
  const store::Key awaited = limiter::awaited_key(evaluation_);
  if (awaited.identity == asked_for_.identity && awaited.policy_id == asked_for_.policy_id) {
    queue_.denied(ticket_, now + least, now + poll);
    return pause();
  }
  set_gauge(nullptr);
  const limiter::Policy& policy = limiter::awaited_policy(evaluation_);
  if (!queue_.move(ticket_, awaited, policy.queue, now + least)) return give_up();
  asked_for_ = awaited;
  count_queued();
  return pause();
}

void SlotWaitMachine::count_queued() {
  set_gauge(&limiter_.counters_of(limiter::awaited_policy(evaluation_)).queued);
}

void SlotWaitMachine::leave(SlotQueue::Leaves how) {
  queue_.leave(ticket_, how);
  set_gauge(nullptr);
}

void SlotWaitMachine::set_gauge(Gauge* gauge) {
  if (queued_ != nullptr) queued_->add(-1);
  queued_ = gauge;
  if (queued_ != nullptr) queued_->add(1);
}

}  // namespace weir::decision
