#include "redis/cluster_store.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "redis/answer.hpp"

namespace weir::redis {

ClusterStore::ClusterStore(const Dependencies& with)
    : with_(with), timer_(with.io.get_executor()) {}

// ---- calls ----

std::optional<store::Result> ClusterStore::acquire(store::Acquisition& acquisition,
                                                   store::Completion& completion, Instant now) {
  return ask(Kind::acquire, acquisition, completion, now);
}

std::optional<store::Result> ClusterStore::peek(store::Acquisition& acquisition,
                                                store::Completion& completion, Instant now) {
  return ask(Kind::peek, acquisition, completion, now);
}

std::optional<store::Result> ClusterStore::ask(Kind kind, store::Acquisition& acquisition,
                                               store::Completion& completion, Instant now) {
  return begin(slot_of(acquisition.claims.front().identity), now, [&](Call& call) {
    call.kind = kind;
    call.acquisition = &acquisition;
    call.caller = &completion;
    call.due = acquisition.arrived_at + with_.timeout;
  });
}

std::optional<store::Result> ClusterStore::forget(const store::Key& key,
                                                  store::Completion& completion, Instant now) {
  return begin(slot_of(key.identity), now, [&](Call& call) {
    call.kind = Kind::forget;
    call.key = key;
    call.caller = &completion;
    call.due = now + with_.timeout;
  });
}

void ClusterStore::settle(std::span<const store::Settlement> settlements, Instant now) {
  with_.holds.settle(settlements, now);
}

template <class Prepare>
std::optional<store::Result> ClusterStore::begin(HashSlot slot, Instant now, Prepare&& prepare) {
  auto call = calls_.borrow(*this);
  call->slot = slot;
  call->sends = 0;
  prepare(*call);
  const auto result = send(*call, with_.masters.master_at(slot), false, now);
  if (!result) call.keep();
  return result;
}

/// `master`: nullptr if none is known.
std::optional<store::Result> ClusterStore::send(Call& call, Master* master, bool asking,
                                                Instant now) {
  if (master == nullptr) {
    with_.counters.errors[static_cast<std::size_t>(store::Error::not_connected)].add();
    return failed(store::Error::not_connected);
  }
  ++call.sends;
  if (!asking) return send_to(call, *master, now);
  master->node.set_asking(true);
  const auto result = send_to(call, *master, now);
  if (result) master->node.set_asking(false);  // it was not sent
  return result;
}

std::optional<store::Result> ClusterStore::send_to(Call& call, Master& master, Instant now) {
  switch (call.kind) {
    case Kind::acquire:
      return master.breaker.acquire(*call.acquisition, call, now);
    case Kind::peek:
      return master.breaker.peek(*call.acquisition, call, now);
    case Kind::forget:
      break;
  }
  return master.breaker.forget(call.key, call, now);
}

// ---- results ----

void ClusterStore::answer(Call& call, const store::Result& result, Instant now) noexcept {
  if (result.error != store::Error::redirected) return end(call, result, now);
  const auto instead = now < call.due && call.sends < most_sends ? follow(call, now) : result;
  if (instead) end(call, *instead, now);
}

std::optional<store::Result> ClusterStore::follow(Call& call, Instant now) noexcept {
  const Refusal refusal = with_.masters.last_refusal();
  if (refusal.to == nullptr || !refusal.to->node.is_ready()) return wait(call);
  try {
    return send(call, refusal.to, refusal.asking, now);
  } catch (const std::bad_alloc&) {
    refusal.to->node.set_asking(false);
    return failed(store::Error::out_of_memory);
  }
}

/// Sends the call again when the pause is over. Returns a result if that is not possible.
std::optional<store::Result> ClusterStore::wait(Call& call) noexcept {
  if (is_stopped_) return failed(store::Error::not_connected);
  try {
    if (!is_armed_) {
      timer_.expires_after(pause);
      timer_.async_wait(timer_handler_([this, watch = presence_.watch()](auto) {
        if (watch.expired()) return;
        is_armed_ = false;
        send_waiting(with_.clock.now());
      }));
      is_armed_ = true;
    }
  } catch (const std::bad_alloc&) {
    return failed(store::Error::out_of_memory);
  }
  call.link_before(waiting_);
  return std::nullopt;
}

/// Those that have to wait again come behind the present ones.
void ClusterStore::send_waiting(Instant now) noexcept {
  Call present(*this);
  if (waiting_.is_linked()) {
    present.link_before(waiting_);
    waiting_.unlink();
  }
  while (present.is_linked()) {
    Call& call = *present.next();
    call.unlink();
    Master* const master = with_.masters.master_at(call.slot);
    std::optional<store::Result> result;
    if (is_stopped_) {
      result = failed(store::Error::not_connected);
    } else if (now >= call.due) {
      result = failed(store::Error::redirected);
    } else if (master != nullptr && !master->node.is_ready()) {
      result = wait(call);
    } else {
      try {
        result = send(call, master, false, now);
      } catch (const std::bad_alloc&) {
        result = failed(store::Error::out_of_memory);
      }
    }
    if (result) end(call, *result, now);
  }
}

void ClusterStore::end(Call& call, const store::Result& result, Instant now) noexcept {
  store::Completion& caller = *call.caller;
  calls_.give_back(call);
  caller.complete(result, now);
}

/// The timer is cancelled, and its handler ends the calls.
void ClusterStore::stop() {
  is_stopped_ = true;
  timer_.cancel();
}

// ---- all nodes ----

bool ClusterStore::is_trusted(const Hash128& identity) const {
  const Master* const master = with_.masters.master_at(slot_of(identity));
  return master != nullptr && master->breaker.is_trusted();
}

bool ClusterStore::read_generation(store::GenerationReceiver& receiver) {
  Master* const master = with_.masters.master_at(with_.generation_slot);
  return master != nullptr && master->node.read_generation(receiver);
}

void ClusterStore::probe(Instant now) {
  for (Master* const master : with_.masters.masters())
    master->breaker.probe(now);
}

void ClusterStore::set_breaker(int failures, Duration retry_after) {
  with_.breaker.failures = failures;
  with_.breaker.retry_after = retry_after;
  for (Master* const master : with_.masters.masters())
    master->breaker.set_breaker(failures, retry_after);
}

store::NodeControl::State ClusterStore::state() const {
  auto worst = store::NodeControl::State::closed;
  for (const Master* const master : with_.masters.masters())
    worst = std::max(worst, master->breaker.state());
  return worst;
}

store::Error ClusterStore::last_error() const {
  for (const Master* const master : with_.masters.masters()) {
    const bool is_bad = master->breaker.state() != store::NodeControl::State::closed;
    if (is_bad && master->breaker.last_error() != store::Error::none)
      return master->breaker.last_error();
  }
  return store::Error::none;
}

}  // namespace weir::redis
