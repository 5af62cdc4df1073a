#include "store/leases.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "rules/span.hpp"

namespace weir::store {
namespace {

/// Questions in one duration while the remote store does not decide.
constexpr int attempts = 8;

}  // namespace

void LeaseQuestion::complete(const Result& result, Instant now) noexcept {
  link.answer(*this, result, now);
}

void Leases::use(const LeaseOptions& options, Instant now) {
  options_ = options;
  if (options.share > 0) return;
  for (LeasedKey* const key : table_.active())
    give_back(*key, now);
}

void Leases::tick(Instant now) {
  table_.sweep([&](LeasedKey& key) {
    const bool is_wanted = now < key.lease.demand().last_noted() + options_.duration;
    const bool is_held_for_nothing = key.lease.is_stranded(options_.duration, now);
    if (!is_wanted || is_held_for_nothing || !key.lease.is_valid(now)) give_back(key, now);
    return is_wanted || !key.lease.is_idle();
  });
}

std::optional<Result> Leases::acquire(Acquisition& acquisition, Completion& completion,
                                      Instant now) {
  Keys keys;
  if (options_.share == 0 || !observe(acquisition.claims, keys, now))
    return next_.acquire(acquisition, completion, now);
  const auto claims = acquisition.claims;
  const auto decided = decide(acquisition, keys, now);
  const bool is_leasable = may_lease(keys, now);
  if (decided && decided->admitted) {
    note_admission(claims, keys, 0, now);
    for (std::size_t i = 0; i < keys.size() && is_leasable; ++i)
      renew(*keys[i], claims[i], acquisition.arrived_at, now);
    return decided;
  }
  const ClaimSet noted = decided || is_leasable ? note_denial(claims, keys, now) : ClaimSet{};
  if (decided) return decided;
  if (is_leasable) {
    ask_for_missing(acquisition, keys, now);
    if (LeaseWaiter* const waiter = wait(keys, acquisition, completion, now)) {
      waiter->noted = noted;
      return std::nullopt;
    }
  }
  return next_.acquire(acquisition, completion, now);
}

/// Finds the keys of a request whose claims all name a lease; false for any other.
bool Leases::observe(std::span<const Claim> claims, Keys& keys, Instant now) {
  for (const Claim& claim : claims) {
    if (claim.lease == nullptr) return false;
  }
  for (const Claim& claim : claims) {
    LeasedKey* key = nullptr;
    try {
      key = table_.take(claim);
    } catch (const std::bad_alloc&) {
      // The next link decides.
    }
    if (key == nullptr) return false;
    key->lease.demand().note_request(now, options_.duration);
    keys.push_back(key);
  }
  // A later key may have taken the place of an earlier one.
  return std::ranges::equal(keys, claims, [](const LeasedKey* key, const Claim& claim) {
    return key->key.identity == claim.identity && key->key.policy_id == claim.policy_id &&
           key->revision == claim.policy_revision;
  });
}

/// Whether all keys are hot, their shares worth a lease, and none was refused just now. Else each
/// request is one for the remote store, and units of its other keys would never be spent.
bool Leases::may_lease(const Keys& keys, Instant now) const {
  return std::ranges::all_of(keys, [this, now](const LeasedKey* key) {
    return key->lease.demand().is_hot() && key->lease.may_be_asked_for(now) &&
           terms_of(*key).most >= least_leased_units;
  });
}

/// `noted`: claims whose demand was noted before.
void Leases::note_admission(std::span<const Claim> claims, const Keys& keys, ClaimSet noted,
                            Instant now) {
  for (std::size_t i = 0; i < claims.size(); ++i) {
    Lease& lease = keys[i]->lease;
    if (!contains(noted, i)) lease.demand().note(claims[i].demand.cost, now);
    lease.note_use(now);
  }
}

/// Notes the demand for the keys that do not cover the request. More units of the others would not
/// be used.
ClaimSet Leases::note_denial(std::span<const Claim> claims, const Keys& keys, Instant now) {
  ClaimSet noted = 0;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    Lease& lease = keys[i]->lease;
    lease.note_unused();
    if (lease.covers(claims[i].demand.cost, now)) continue;
    lease.demand().note(claims[i].demand.cost, now);
    noted = static_cast<ClaimSet>(noted | 1U << i);
  }
  return noted;
}

bool Leases::find_keys(std::span<const Claim> claims, Keys& keys) {
  for (const Claim& claim : claims) {
    LeasedKey* const key = table_.find(claim);
    if (key == nullptr) return false;
    keys.push_back(key);
  }
  return true;
}

/// Nothing if the next link decides.
std::optional<Result> Leases::decide(Acquisition& acquisition, const Keys& keys, Instant now) {
  const auto claims = acquisition.claims;
  ClaimSet spent = 0;
  ClaimSet known = 0;
  bool is_denied = false;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    Lease& lease = keys[i]->lease;
    const std::int64_t cost = claims[i].demand.cost;
    const auto bit = static_cast<ClaimSet>(1U << i);
    if (lease.covers(cost, now)) {
      lease.spend(cost);
      spent |= bit;
    } else if (const auto denial = lease.denial(*claims[i].policy, cost, now)) {
      acquisition.decisions[i] = *denial;
      known |= bit;
      is_denied = is_denied || !claims[i].shadow;
    }
  }
  const auto decided = static_cast<ClaimSet>(spent | known);
  const bool is_admitted = !is_denied && decided == first_claims(claims.size());
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (!contains(spent, i)) continue;
    if (!is_admitted) keys[i]->lease.unspend(claims[i].demand.cost);
    if (is_admitted || is_denied) acquisition.decisions[i] = keys[i]->lease.admission(now);
  }
  if (!is_admitted && !is_denied) return std::nullopt;
  counters_.leased.add();
  return Result{.admitted = is_admitted, .decider = Decider::redis, .decided = decided};
}

// ---- questions ----

Lease::Terms Leases::terms_of(const LeasedKey& key) const {
  static_assert(rules::exact_limit <= std::numeric_limits<std::int64_t>::max() / 100);
  const std::int64_t parts = 100 * static_cast<std::int64_t>(options_.workers);
  return {.most = key.limit * options_.share / parts, .duration = options_.duration};
}

/// Asks for the keys that do not cover a request: while some of them are scarce, for these only,
/// because the units of the others may not be used.
void Leases::ask_for_missing(const Acquisition& acquisition, const Keys& keys,
                             Instant now) noexcept {
  const auto claims = acquisition.claims;
  bool is_any_scarce = false;
  const auto is_missing = [&](std::size_t i) {
    return !keys[i]->lease.covers(claims[i].demand.cost, now);
  };
  for (std::size_t i = 0; i < keys.size(); ++i)
    is_any_scarce = is_any_scarce || (is_missing(i) && keys[i]->lease.is_scarce());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (is_missing(i) && (keys[i]->lease.is_scarce() || !is_any_scarce))
      renew(*keys[i], claims[i], acquisition.arrived_at, now);
  }
}

/// Asks for the units that the key needs, unless a question is in flight.
void Leases::renew(LeasedKey& key, const Claim& claim, Instant arrived_at, Instant now) noexcept {
  if (key.question != nullptr) return;
  try {
    ask(key, claim, arrived_at, now);
  } catch (const std::bad_alloc&) {
    key.lease.on_refused(options_.duration / attempts, now);
  }
}

void Leases::ask(LeasedKey& key, const Claim& claim, Instant arrived_at, Instant now) {
  if (!key.lease.is_valid(now) || key.lease.is_stranded(options_.duration, now))
    give_back(key, now);
  const Lease::Terms terms = terms_of(key);
  const std::int64_t units = key.lease.units_to_ask(terms, claim.demand.cost, now);
  if (units == 0) return;
  table_.activate(key, claim);
  auto question = questions_.borrow(*this);
  question->key = &key;
  question->policy = key.policy;
  question->claim = {.policy = key.policy.get(),
                     .identity = key.key.identity,
                     .policy_id = key.key.policy_id,
                     .policy_revision = key.revision,
                     .holds = true,
                     .on_failure = OnFailure::deny,
                     .demand = {.cost = units, .overdraft = true},
                     .attributes = {},
                     .lease = &key.units};
  question->acquisition = {.claims = {&question->claim, 1},
                           .decisions = {&question->decision, 1},
                           .arrived_at = arrived_at};
  // The command has the settlement of what was spent, too.
  settle(key, key.lease.settle_spent(terms), now);
  key.lease.on_asked(units, now);
  if (const auto result = remote_.acquire(question->acquisition, *question, now))
    return apply(key, question->decision, *result, now);
  key.question = &*question;
  ++asking_;
  question.keep();
}

/// Waits for the reply about a key that does not cover the request, unless that may come too late.
/// nullptr: it does not wait.
LeaseWaiter* Leases::wait(const Keys& keys, Acquisition& acquisition, Completion& completion,
                          Instant now) {
  if (now - acquisition.arrived_at >= timeout_) return nullptr;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    LeaseQuestion* const question = keys[i]->question;
    if (question == nullptr || question->acquisition.arrived_at > acquisition.arrived_at) continue;
    if (keys[i]->lease.covers(acquisition.claims[i].demand.cost, now)) continue;
    LeaseWaiter& waiter = waiters_.take();
    waiter.acquisition = &acquisition;
    waiter.caller = &completion;
    waiter.noted = 0;
    waiter.is_last = false;
    waiter.link_before(question->waiting);
    return &waiter;
  }
  return nullptr;
}

// ---- replies ----

void Leases::answer(LeaseQuestion& question, const Result& result, Instant now) {
  --asking_;
  if (LeasedKey* const key = std::exchange(question.key, nullptr)) {
    key->question = nullptr;
    apply(*key, question.decision, result, now);
    // More requests have come than the question was for: one further question is for all of them.
    if (question.waiting.is_linked())
      renew(*key, question.claim, question.waiting.next()->acquisition->arrived_at, now);
  } else if (result.error == Error::none && result.decided != 0 && question.decision.held > 0) {
    // The key was reset. The question may have been decided after that, by another node.
    const Settlement unused{.policy = question.policy.get(),
                            .key = {question.claim.identity, question.claim.policy_id},
                            .held = question.decision.held};
    remote_.settle({&unused, 1}, now);
  }
  // Those that wait leave the ring: the question may be used again from now on.
  LeaseWaiter waiting;
  if (question.waiting.is_linked()) {
    waiting.link_before(question.waiting);
    question.waiting.unlink();
  }
  question.policy.reset();
  questions_.give_back(question);
  while (waiting.is_linked()) {
    LeaseWaiter& first = *waiting.next();
    first.unlink();
    Completion& caller = *first.caller;
    const auto decided = decide_again(first, now);
    waiters_.give_back(first);
    if (decided) caller.complete(*decided, now);
  }
}

void Leases::apply(LeasedKey& key, const rules::Decision& decision, const Result& result,
                   Instant now) {
  using enum rules::OverrideEffect;
  // Several attempts fit into what is left of the lease.
  if (result.error != Error::none || result.decided == 0)
    return key.lease.on_refused(options_.duration / attempts, now);
  const std::int64_t before = key.lease.units();
  key.lease.on_granted(*key.policy, terms_of(key), decision, now);
  key.units->add(key.lease.units() - before);
  // The reply may have come after the end of the lease, too.
  const bool is_unusable = decision.override_effect == unlimited ||
                           decision.override_effect == denied || !key.lease.is_valid(now);
  if (is_unusable) key.lease.on_refused(options_.duration, now);
  // Another limit is in force: no unit of the former one is used any more.
  const bool has_changed = std::exchange(key.limit, decision.limit) != decision.limit;
  if (is_unusable || has_changed || options_.share == 0) give_back(key, now);
}

/// A request waits twice at most. The call that asked has returned, so a lack of memory is a
/// result.
std::optional<Result> Leases::decide_again(LeaseWaiter& waiter, Instant now) noexcept {
  Acquisition& acquisition = *waiter.acquisition;
  try {
    Keys keys;
    if (find_keys(acquisition.claims, keys)) {
      const auto decided = decide(acquisition, keys, now);
      if (decided && decided->admitted) note_admission(acquisition.claims, keys, waiter.noted, now);
      if (decided) return decided;
      if (!waiter.is_last) {
        if (may_lease(keys, now)) ask_for_missing(acquisition, keys, now);
        if (LeaseWaiter* const again = wait(keys, acquisition, *waiter.caller, now)) {
          again->noted = waiter.noted;
          again->is_last = true;
          return std::nullopt;
        }
      }
    }
    return next_.acquire(acquisition, *waiter.caller, now);
  } catch (const std::bad_alloc&) {
    return Result{.error = Error::out_of_memory, .decider = Decider::local};
  }
}

// ---- units ----

/// Gives all units of a key back. If they were of no use although the key is exhausted, the store
/// decides for a while: others may lack these units, and hold what is missing here.
void Leases::give_back(LeasedKey& key, Instant now) {
  const bool is_stranded = key.lease.is_stranded(options_.duration, now);
  settle(key, key.lease.end(), now);
  if (is_stranded && key.lease.is_scarce()) key.lease.on_refused(options_.duration, now);
}

void Leases::settle(LeasedKey& key, const Lease::Spent& spent, Instant now) {
  if (spent.held == 0) return;
  key.units->add(-spent.held);
  const Settlement settlement{
      .policy = key.policy.get(), .key = key.key, .held = spent.held, .actual = spent.actual};
  remote_.settle({&settlement, 1}, now);
}

void Leases::settle(std::span<const Settlement> settlements, Instant now) {
  const auto refunds = [](const Settlement& settlement) { return settlement.actual < 0; };
  if (std::ranges::none_of(settlements, refunds)) return next_.settle(settlements, now);
  for (Settlement settlement : settlements) {
    const bool is_leasable = refunds(settlement) && !settlement.alone;
    if (LeasedKey* const key = is_leasable ? table_.find(settlement.key) : nullptr) {
      const std::int64_t units = -std::max(settlement.actual, -rules::exact_limit);
      settlement.actual = refund(key->lease, units) - units;
    }
    next_.settle({&settlement, 1}, now);
  }
}

std::optional<Result> Leases::forget(const Key& key, Completion& completion, Instant now) {
  if (LeasedKey* const leased = table_.find(key)) {
    // If the remote store can be reached, it removes the units together with the key.
    give_back(*leased, now);
    if (leased->question != nullptr) leased->question->key = nullptr;
    leased->question = nullptr;
    leased->lease = {};
  }
  return next_.forget(key, completion, now);
}

}  // namespace weir::store
