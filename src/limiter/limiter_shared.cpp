// Deciding with the store that instances share, and without it while it does not decide.
#include <algorithm>

#include "limiter/limiter.hpp"

namespace weir::limiter {
namespace {

constexpr std::size_t remembered_sets = 1024;  // of four denials each, 0.4 MiB a worker

}  // namespace

Limiter::Shared::Shared(redis::Store& its_store, const redis::Options& options, std::uint64_t seed)
    : store(its_store),
      timeout(options.timeout),
      breaker(options.breaker_failures, options.breaker_retry_after),
      denials(remembered_sets, seed) {}

Limiter::Limiter(const Settings& config, store::MemoryStore& memory, redis::Store& shared,
                 const redis::Options& options, std::uint64_t seed)
    : Limiter(config, memory) {
  shared_ = std::make_unique<Shared>(shared, options, seed);
}

Verdict Limiter::decide_shared(std::size_t count, Instant arrived_at, Instant now) {
  if (const auto remembered = recall(count, now)) return *remembered;
  if (now - arrived_at >= shared_->timeout) return decide_alone(count, now);
  shared_->undecided = {.claims = count, .arrived_at = arrived_at, .ended = {}};
  find_asker(now);
  if (shared_->undecided.asker == nullptr && !may_ask(now)) return decide_alone(count, now);
  return {.outcome = Outcome::undecided, .decider = Decider::redis};
}

/// Where a denial has just ended, many may come before the first answer, which most often is
/// another denial or leaves nothing: one asks, the others wait. Never for one that came later,
/// whose answer may take longer than there is time; nor while it is uncertain that Redis answers at
/// all.
void Limiter::find_asker(Instant now) {
  Undecided& undecided = shared_->undecided;
  if (!may_be_remembered(undecided.claims)) return;
  const bool may_wait =
      shared_->store.is_ready() && shared_->breaker.state() == Breaker::State::closed;
  for (const LimitVerdict& limit : std::span(limits_).first(undecided.claims)) {
    if (limit.policy->shadow) continue;
    const auto key = key_of(limit);
    Inquiry** const asker = shared_->denials.asker_of(key, now);
    if (asker == nullptr) continue;
    if (*asker == nullptr) {
      if (!undecided.ended) undecided.ended = key;
    } else if (may_wait && (*asker)->arrived_at <= undecided.arrived_at) {
      undecided.asker = *asker;
      return;
    }
  }
}

bool Limiter::may_ask(Instant now) {
  const bool connected = shared_->store.is_ready();
  if (!connected) {
    shared_->counters.not_connected.add();
    note_failure(redis::StoreError::not_connected, now);
    return false;
  }
  return is_let_through(now);
}

bool Limiter::is_let_through(Instant now) {
  const bool granted = shared_->breaker.lets_through(now);
  shared_->counters.breaker.store(shared_->breaker.state(), std::memory_order_relaxed);
  return granted;
}

void Limiter::note_failure(redis::StoreError error, Instant now) {
  shared_->last_error = error;
  const bool opened = shared_->breaker.failed(now);
  shared_->counters.breaker.store(shared_->breaker.state(), std::memory_order_relaxed);
  // Where this connection's server is silent, a new one may find another.
  // A server that is only slow would be slower for another connection.
  const bool silent = error == redis::StoreError::timeout && shared_->store.is_silent();
  if (opened && silent) shared_->store.reconnect();
}

void Limiter::note_success() {
  shared_->breaker.succeeded();
  shared_->counters.breaker.store(shared_->breaker.state(), std::memory_order_relaxed);
}

void Limiter::probe(Instant now) {
  if (!shared_) return;
  ProbeAnswer& probe = shared_->probe;
  if (probe.is_awaited && probe.error) {
    *probe.error == redis::StoreError::none ? note_success() : note_failure(*probe.error, now);
    probe.is_awaited = false;
  }
  const bool trusted =
      shared_->store.has_decided() && shared_->breaker.state() == Breaker::State::closed;
  if (trusted || probe.is_awaited || !shared_->store.is_ready()) return;
  if (!is_let_through(now)) return;
  probe.error.reset();
  probe.is_awaited = true;
  shared_->store.probe(probe);
}

void Limiter::ask(Inquiry& inquiry, redis::Receiver& receiver, Instant now) noexcept {
  const Undecided& undecided = shared_->undecided;
  inquiry.arrived_at = undecided.arrived_at;
  inquiry.question.receiver = &receiver;
  inquiry.waits = undecided.asker != nullptr;
  if (inquiry.waits) return inquiry.link_before(*undecided.asker);

  inquiry.awaited_for = undecided.ended;
  if (inquiry.awaited_for) *shared_->denials.asker_of(*inquiry.awaited_for, now) = &inquiry;
  const std::size_t count = undecided.claims;
  inquiry.sent_at = now;
  inquiry.may_be_remembered = may_be_remembered(count);
  inquiry.limits.assign(limits_.begin(), limits_.begin() + static_cast<std::ptrdiff_t>(count));
  inquiry.decisions.resize(count);
  inquiry.question = {.claims = std::span(claims_).first(count),
                      .decisions = {inquiry.decisions.data(), count},
                      .receiver = &receiver,
                      .waited = now - inquiry.arrived_at};
  shared_->store.ask(inquiry.question);
}

Verdict Limiter::conclude(Inquiry& inquiry, redis::StoreError error,
                          std::span<const RouteEvidence> routes, Instant now) {
  // The same claims as before: what they are made of does not change while a request is decided.
  const auto claims_again = [&] { return make_claims(routes).count; };
  if (inquiry.waits) return decide_shared(claims_again(), inquiry.arrived_at, now);
  if (error != redis::StoreError::none) {
    settle(inquiry, false);
    note_failure(error, now);
    return decide_alone(claims_again(), now);
  }
  note_success();
  for (std::size_t i = 0; i < inquiry.limits.size(); ++i)
    inquiry.limits[i].decision = inquiry.decisions[i];
  const bool admitted = inquiry.question.admitted;
  const bool left = inquiry.may_be_remembered && !remember(inquiry, now);
  settle(inquiry, left);
  const Verdict verdict =
      verdict_of({inquiry.limits.data(), inquiry.limits.size()}, admitted, Decider::redis);
  count_outcomes(verdict);
  return verdict;
}

/// What on_failure says of each policy. The rest is decided together, by this instance's shares.
Verdict Limiter::decide_alone(std::size_t count, Instant now) {
  shared_->counters.alone.add();
  std::size_t own = 0;
  const Policy* denying = nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    const Policy& policy = *limits_[i].policy;
    if (policy.on_failure == OnFailure::deny && !policy.shadow) {
      counters_[index_of(policy)].error.add();
      if (denying == nullptr) denying = &policy;
    }
    if (policy.on_failure != OnFailure::local) continue;
    claims_[own] = claims_[i];
    claims_[own].policy = &policy.local_rule;
    limits_[own] = limits_[i];
    ++own;
  }
  if (denying != nullptr)
    return {.outcome = Outcome::failed, .decider = Decider::local, .deciding = denying};
  if (own == 0) return {.outcome = Outcome::allowed, .decider = Decider::local};
  return acquire(own, now, Decider::local);
}

/// Whether a denial of these claims says all there is to say about the same request later: it is
/// not to be charged, and each claim was decided by its key alone.
bool Limiter::may_be_remembered(std::size_t count) const {
  const auto claims = std::span(claims_).first(count);
  for (auto claim = claims.begin(); claim != claims.end(); ++claim) {
    if (claim->policy->count_rejected || claim->demand.overdraft) return false;
    const bool shares_key = std::any_of(claims.begin(), claim, [&](const store::Claim& earlier) {
      return earlier.policy_id == claim->policy_id && earlier.identity == claim->identity;
    });
    if (shares_key) return false;
  }
  return true;
}

/// If the same request would be denied now, what each claim would be told. False if it would pass.
bool Limiter::remember(const Inquiry& inquiry, Instant now) {
  Inquiry::OneALimit<std::optional<rules::Decision>> next;
  bool denied = false;
  bool known = true;
  for (const LimitVerdict& limit : inquiry.limits) {
    const auto& decision = next.emplace_back(decision_after(limit.decision, limit.cost));
    if (limit.policy->shadow) continue;
    known = known && decision.has_value();
    denied = denied || !decision || !decision->allowed;
  }
  // Of a claim that is denied for longer than is known, no Retry-After could be told.
  for (std::size_t i = 0; denied && known && i < next.size(); ++i) {
    if (next[i])
      shared_->denials.remember(key_of(inquiry.limits[i]), *next[i], inquiry.sent_at, now);
  }
  return denied;
}

/// Its answer has come, or never will: who waits for it is to be decided anew.
void Limiter::settle(Inquiry& inquiry, bool left) noexcept {
  if (!inquiry.awaited_for) return;
  shared_->denials.settle(*inquiry.awaited_for, inquiry, left);
  while (inquiry.is_linked()) {
    auto& waiting = static_cast<Inquiry&>(*inquiry.next);
    waiting.unlink();
    waiting.question.receiver->on_answer(redis::StoreError::none);
  }
}

/// The verdict if one of the claims is remembered as denied; of the others what is known is shown.
std::optional<Verdict> Limiter::recall(std::size_t count, Instant now) {
  std::array<std::optional<rules::Decision>, limits_per_route> known;
  bool denied = false;
  for (std::size_t i = 0; i < count; ++i) {
    known[i] = shared_->denials.recall(key_of(limits_[i]), now);
    denied = denied || (known[i] && !known[i]->allowed && !limits_[i].policy->shadow);
  }
  if (!denied || !may_be_remembered(count)) return std::nullopt;

  std::size_t shown = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!known[i]) continue;
    limits_[shown] = limits_[i];
    limits_[shown++].decision = *known[i];
  }
  shared_->counters.remembered.add();
  const Verdict verdict = verdict_of(std::span(limits_).first(shown), false, Decider::redis);
  count_outcomes(verdict);
  return verdict;
}

DenialMemory::Key Limiter::key_of(const LimitVerdict& limit) const {
  return {.identity = limit.identity,
          .policy_id = static_cast<std::uint32_t>(index_of(*limit.policy)),
          .cost = limit.cost};
}

void Limiter::forget(const Hash128& identity, std::uint32_t policy_id) {
  if (shared_) shared_->denials.forget(identity, policy_id);
}

}  // namespace weir::limiter
