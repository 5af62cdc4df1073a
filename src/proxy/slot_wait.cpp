#include "proxy/slot_wait.hpp"

#include <algorithm>

#include "limiter/waiting.hpp"

namespace weir::proxy {

using limiter::SlotQueue;
using limiter::Verdict;

SlotWait::SlotWait(const WaitPhase& phase)
    : with_(phase),
      queue_(*phase.limiter.queue()),
      timer_(phase.context.io.get_executor()),
      link_(std::make_shared<Link>(Link{this})),
      began_at_(phase.context.clock.now()) {}

SlotWait::~SlotWait() {
  leave(SlotQueue::Leaves::denied);
  link_->wait = nullptr;
}

loop::Task<const Verdict*> SlotWait::run() {
  const limiter::Policy& policy = limiter::awaited_policy(with_.evaluation);
  const Instant last = began_at_ + policy.max_wait;
  if (!join(limiter::awaited_key(with_.evaluation), began_at_))
    co_return &with_.limiter.give_up(with_.evaluation, false);
  with_.client.watchdog->disarm(Phase::delay);
  const Watched watched(*with_.client.watchdog, *this);
  for (;;) {
    co_await pause(std::min(queue_.due(*this), last));
    if (is_interrupted()) break;
    const Instant now = with_.context.clock.now();
    if (queue_.due(*this) <= now) {
      if (const Verdict* const verdict = co_await ask()) co_return verdict;
    } else if (now >= last) {
      break;
    }
  }
  leave(SlotQueue::Leaves::denied);
  co_return &with_.limiter.give_up(with_.evaluation, true);
}

Duration SlotWait::waited() const {
  return with_.context.clock.now() - began_at_;
}

bool SlotWait::call() noexcept {
  try {
    asio::post(with_.context.io, [link = link_] {
      if (link->wait == nullptr) return;
      link->wait->is_called_ = true;
      link->wait->timer_.cancel();
    });
    return true;
  } catch (...) {
    return false;  // no memory: the next poll or release finds it
  }
}

bool SlotWait::is_interrupted() const {
  const Interruptions& interruptions = with_.client.watchdog->interruptions();
  return interruptions.aborted || interruptions.client_left;
}

/// It asks at once: a slot may have been released since the denial.
bool SlotWait::join(const store::Key& key, Instant now) {
  const limiter::Policy& policy = limiter::awaited_policy(with_.evaluation);
  if (!queue_.join(*this, key, policy.queue, now)) return false;
  set_gauge(&with_.limiter.counters_of(policy).queued);
  return true;
}

/// The request waits for another of its limits now.
bool SlotWait::move(const store::Key& to, Instant now) {
  const limiter::Policy& policy = limiter::awaited_policy(with_.evaluation);
  set_gauge(nullptr);
  if (!queue_.move(*this, to, policy.queue, now)) return false;
  set_gauge(&with_.limiter.counters_of(policy).queued);
  return true;
}

void SlotWait::leave(SlotQueue::Leaves how) {
  queue_.leave(*this, how);
  set_gauge(nullptr);
}

loop::Task<> SlotWait::pause(Instant until) {
  if (std::exchange(is_called_, false) || is_interrupted()) co_return;
  error_code ec;
  timer_.expires_after(std::max(until - with_.context.clock.now(), Duration{0}));
  co_await timer_.async_wait(loop::into(ec));
  is_called_ = false;
}

/// Asks the store as the first of the line. Returns the verdict, or nullptr to wait again.
loop::Task<const Verdict*> SlotWait::ask() {
  const store::Key waited_for = limiter::awaited_key(with_.evaluation);
  queue_.begin(*this);
  if (limiter::counts_rejected(with_.evaluation)) {
    const store::Result look = co_await question(true);
    if (!limiter::has_room(with_.evaluation, look)) co_return deny_again(waited_for, look.decider);
  }
  const store::Result result = co_await question(false);
  const Verdict& verdict = with_.limiter.conclude(with_.evaluation, result);
  if (with_.evaluation.waits_for) co_return deny_again(waited_for, result.decider);
  leave(result.admitted ? SlotQueue::Leaves::admitted : SlotQueue::Leaves::denied);
  co_return &verdict;
}

/// Returns nullptr, or the verdict if the line of the limit that denies now is full.
const Verdict* SlotWait::deny_again(const store::Key& waited_for, store::Decider decider) {
  const Instant now = with_.context.clock.now();
  const auto [least, poll] = limiter::pause_after(decider, with_.context.random.next());
  const store::Key awaited = limiter::awaited_key(with_.evaluation);
  if (awaited.identity == waited_for.identity && awaited.policy_id == waited_for.policy_id) {
    queue_.denied(*this, now + least, now + poll);
    return nullptr;
  }
  if (move(awaited, now + least)) return nullptr;
  return &with_.limiter.give_up(with_.evaluation, true);
}

/// The store completes within its timeout. The wait is not cut short, because the store writes into
/// the exchange.
loop::Task<store::Result> SlotWait::question(bool look) {
  with_.asked_at = with_.context.clock.now();
  const auto at_once =
      with_.limiter.ask_again(with_.evaluation, look, with_.store_answer, with_.asked_at);
  if (at_once) co_return *at_once;
  co_return co_await with_.store_answer.arrival(with_.context.io);
}

void SlotWait::set_gauge(Gauge* gauge) {
  if (queued_ != nullptr) queued_->add(-1);
  queued_ = gauge;
  if (queued_ != nullptr) queued_->add(1);
}

}  // namespace weir::proxy
