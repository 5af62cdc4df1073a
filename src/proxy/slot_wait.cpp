#include "proxy/slot_wait.hpp"

#include <algorithm>
#include <utility>

namespace weir::proxy {

SlotWait::SlotWait(const WaitPhase& phase)
    : with_(phase),
      timer_(phase.context.io.get_executor()),
      link_(std::make_shared<Link>(Link{this})),
      began_at_(phase.context.clock.now()),
      machine_(phase.limiter, phase.evaluation, *this) {}

SlotWait::~SlotWait() {
  link_->wait = nullptr;
}

loop::Task<> SlotWait::run() {
  Step step = machine_.begin(began_at_);
  if (step == Step::end) co_return;
  with_.record.note_queue_step(with_.asked_at);
  with_.client.watchdog->disarm(Phase::delay);
  const Watched watched(*with_.client.watchdog, *this);
  while (step != Step::end) {
    if (step == Step::pause) {
      co_await pause(machine_.pause_until());
      const Instant now = with_.context.pass_clock.read();
      step = machine_.on_pause_end(now, is_interrupted());
      if (step == Step::end) with_.record.note_queue_step(now);
      continue;
    }
    const bool look = step == Step::look;
    const store::Result result = co_await question(look);
    const Instant now = with_.context.clock.now();
    const std::uint64_t random = with_.context.random.next();
    step = look ? machine_.on_look(result, now, random) : machine_.on_answer(result, now, random);
  }
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
  const bool is_late = with_.deadline && *with_.deadline <= with_.context.clock.now();
  return interruptions.aborted || interruptions.client_left || is_late;
}

loop::Task<> SlotWait::pause(Instant until) {
  if (std::exchange(is_called_, false) || is_interrupted()) co_return;
  error_code ec;
  if (with_.deadline) until = std::min(until, *with_.deadline);
  timer_.expires_after(std::max(until - with_.context.clock.now(), Duration{0}));
  co_await timer_.async_wait(loop::into(ec));
  is_called_ = false;
}

/// The store completes within its timeout. The wait is not cut short, because the store writes into
/// the exchange. The reading is one of the pass, so that units that are released later in it are
/// not released at an earlier instant.
loop::Task<store::Result> SlotWait::question(bool look) {
  with_.asked_at = with_.context.pass_clock.read();
  with_.record.note_queue_step(with_.asked_at);
  const auto at_once =
      with_.limiter.ask_again(with_.evaluation, look, with_.store_answer, with_.asked_at);
  if (at_once) co_return *at_once;
  co_return co_await with_.store_answer.arrival(with_.context.io);
}

}  // namespace weir::proxy
