#include "simulation/master_link.hpp"

#include <algorithm>
#include <utility>

#include "simulation/world.hpp"

namespace weir::simulation {
namespace {

constexpr std::size_t most_joined = 32;

}  // namespace

void Call::act(int step, Nanoseconds now) {
  switch (step) {
    case arrival:
      return link->arrive(*this, now);
    case deadline:
      return link->expire(*this, now);
    default:
      return link->reply(*this, now);
  }
}

// ---- questions that wait for the end of the pass ----

Call& MasterLink::open_call() {
  Call& call = world_.take_call();
  call.link = this;
  call.questions.clear();
  call.settlements.clear();
  call.receiver = nullptr;
  call.is_joinable = false;
  open_.push_back(&call);
  if (!std::exchange(is_leaving_, true))
    world_.events().add(world_.now() + world_.settings().pass, *this);
  return call;
}

Call& MasterLink::call_for(std::uint32_t slot, bool holds) {
  for (Call* const call : open_) {
    if (!holds && call->is_joinable && call->slot == slot && call->questions.size() < most_joined)
      return *call;
  }
  Call& call = open_call();
  call.slot = slot;
  call.is_joinable = !holds;
  return call;
}

std::optional<store::Result> MasterLink::acquire(store::Acquisition& acquisition,
                                                 store::Completion& completion, Instant) {
  const store::Claim& claim = acquisition.claims.front();
  const std::uint32_t key = World::key_of(claim.identity);
  Call& call = call_for(world_.slot_of(key), claim.holds);
  const Nanoseconds arrived_at = (acquisition.arrived_at - instant_at(0)).count() * microsecond;
  call.questions.push_back({.acquisition = &acquisition,
                            .completion = &completion,
                            .due_at = arrived_at + world_.settings().timeout.count() * microsecond,
                            .key = key,
                            .holds = claim.holds,
                            .result = {},
                            .decision = {}});
  ++unanswered_;
  return std::nullopt;
}

std::optional<store::Result> MasterLink::probe(store::Completion& completion, Instant) {
  Call& call = open_call();
  call.questions.push_back(
      {.completion = &completion,
       .due_at = world_.now() + world_.settings().timeout.count() * microsecond,
       .result = {},
       .decision = {}});
  ++unanswered_;
  return std::nullopt;
}

bool MasterLink::read_generation(store::GenerationReceiver& receiver) {
  open_call().receiver = &receiver;
  ++unanswered_;
  return true;
}

void MasterLink::settle(std::span<const store::Settlement> settlements, Instant) {
  for (const store::Settlement& settlement : settlements) {
    const std::uint32_t key = World::key_of(settlement.key.identity);
    if (key == 0) world_.measures().note_units(instance_, settlement.actual - settlement.held);
    settlements_.push_back(settlement);
    settlements_.back().policy = &world_.policy();
  }
  if (!std::exchange(is_leaving_, true))
    world_.events().add(world_.now() + world_.settings().pass, *this);
}

std::optional<store::Result> MasterLink::peek(store::Acquisition&, store::Completion&, Instant) {
  return store::Result{.error = store::Error::other};
}
std::optional<store::Result> MasterLink::forget(const store::Key&, store::Completion&, Instant) {
  return store::Result{.error = store::Error::other};
}

/// A question that holds units of the key takes its settlement along. Else a call has settlements
/// of one slot only, in a cluster.
Call& MasterLink::call_of_settlement(const store::Settlement& settlement) {
  const std::uint32_t key = World::key_of(settlement.key.identity);
  for (Call* const call : open_) {
    if (!call->questions.empty() && call->questions.front().holds &&
        call->questions.front().key == key)
      return *call;
  }
  constexpr std::size_t most_settled = 64;
  for (Call* const call : open_) {
    if (call->questions.empty() && call->receiver == nullptr && call->slot == world_.slot_of(key) &&
        call->settlements.size() < most_settled)
      return *call;
  }
  Call& call = open_call();
  call.slot = world_.slot_of(key);
  return call;
}

void MasterLink::act(int, Nanoseconds now) {
  for (const store::Settlement& settlement : settlements_)
    call_of_settlement(settlement).settlements.push_back(settlement);
  settlements_.clear();
  for (Call* const call : open_) {
    last_arrival_ = std::max(last_arrival_, now + world_.latency());
    world_.events().add(last_arrival_, *call, Call::arrival);
  }
  open_.clear();
  is_leaving_ = false;
}

// ---- at the master ----

Nanoseconds MasterLink::service_of(const Call& call) const {
  const Settings& settings = world_.settings();
  if (call.receiver != nullptr) return settings.generation;
  Nanoseconds service = settings.call;
  for (const Call::Question& question : call.questions) {
    if (question.holds) {
      service += settings.held_decision;
    } else {
      service += settings.has_leases ? settings.beside_holds : settings.decision;
    }
  }
  // A question that holds has the settlement of its key in the same fields.
  if (call.questions.empty())
    service += settings.held_decision * static_cast<Nanoseconds>(call.settlements.size());
  return service;
}

void MasterLink::arrive(Call& call, Nanoseconds now) {
  const Nanoseconds service = service_of(call);
  const Nanoseconds done = world_.master(master_).serve(now, service);
  world_.master(master_).store().settle(call.settlements, instant_at(done));
  const std::size_t parts =
      call.questions.size() + (call.questions.empty() ? call.settlements.size() : 0);
  const double part = 1.0 / static_cast<double>(std::max<std::size_t>(parts, 1));
  const Nanoseconds part_of_service =
      service / static_cast<Nanoseconds>(std::max<std::size_t>(parts, 1));
  if (call.receiver != nullptr) {
    world_.measures().note_shared_work(service);
  } else if (call.questions.empty()) {
    for (const store::Settlement& settlement : call.settlements)
      world_.measures().note_work(World::key_of(settlement.key.identity), part, part_of_service);
  }
  last_reply_ = std::max(last_reply_, done + world_.latency());
  for (Call::Question& question : call.questions) {
    if (question.acquisition == nullptr) continue;
    world_.measures().note_work(question.key, part, part_of_service);
    decide(question, done);
    if (question.due_at < last_reply_)
      world_.events().add(std::max(question.due_at, now), call, Call::deadline);
  }
  world_.events().add(last_reply_, call, Call::reply);
}

void MasterLink::decide(Call::Question& question, Nanoseconds at) {
  store::Acquisition& acquisition = *question.acquisition;
  question.result = {.decider = store::Decider::redis, .decided = 1};
  question.result.admitted = world_.master(master_).store().decide(
      acquisition.claims, instant_at(at), {&question.decision, 1});
  if (question.result.admitted && !question.holds) world_.note_admission(question.key, at);
}

// ---- replies ----

void MasterLink::expire(Call& call, Nanoseconds now) {
  for (Call::Question& question : call.questions) {
    if (question.due_at > now || question.completion == nullptr) continue;
    question.acquisition = nullptr;
    has_decided_ = false;
    std::exchange(question.completion, nullptr)
        ->complete({.error = store::Error::timeout, .decider = store::Decider::redis},
                   instant_at(now));
  }
}

void MasterLink::reply(Call& call, Nanoseconds now) {
  if (!call.questions.empty() || call.receiver != nullptr) ++replies_;
  if (call.receiver != nullptr) {
    --unanswered_;
    call.receiver->on_generation(1, instant_at(now));
  }
  for (Call::Question& question : call.questions) {
    --unanswered_;
    if (question.completion == nullptr) {
      // It has timed out, so nobody spends what it holds.
      if (question.decision.held == 0) continue;
      const store::Settlement late{.policy = &world_.policy(),
                                   .key = {World::identity_of(question.key), 0},
                                   .held = question.decision.held,
                                   .actual = 0};
      if (question.key == 0) world_.measures().note_units(instance_, late.held);
      settle({&late, 1}, instant_at(now));
      continue;
    }
    has_decided_ = true;
    if (question.holds && question.key == 0)
      world_.measures().note_units(instance_, question.decision.held);
    if (question.acquisition != nullptr) question.acquisition->decisions[0] = question.decision;
    question.completion->complete(question.result, instant_at(now));
  }
  world_.give_back(call);
}

}  // namespace weir::simulation
