// Limits of a route -> claims -> store -> one verdict about the request.
//
// A Limiter belongs to one worker (it keeps scratch space and counters); the memory store behind it
// is shared by all. With the memory store a decision is one call that allocates nothing. With Redis
// decide() does what can be done at once: deny what is remembered as denied, or decide alone while
// Redis is not worth asking. Else it says undecided, and the caller asks, waits and concludes; and
// once more if the conclusion is undecided, because it was another request that asked.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/counters.hpp"
#include "identity/identity.hpp"
#include "limiter/attribute_texts.hpp"
#include "limiter/breaker.hpp"
#include "limiter/denial_memory.hpp"
#include "limiter/inquiry.hpp"
#include "limiter/resolved_identities.hpp"
#include "limiter/settings.hpp"
#include "limiter/verdict.hpp"
#include "redis/store.hpp"
#include "store/memory_store.hpp"

namespace weir::limiter {

/// Decisions by policy and outcome, for the metrics.
struct PolicyCounters {
  Counter allowed, denied, shadow_denied, delayed;
  Counter error;  ///< answered 503 because nobody could decide for this policy
};

/// How it goes with the shared store, for the metrics; the store counts its own part.
struct SharingCounters {
  Counter remembered;     ///< requests denied from memory
  Counter alone;          ///< requests that were left to on_failure
  Counter not_connected;  ///< of those, the ones that found no connection
  std::atomic<Breaker::State> breaker{Breaker::State::closed};
};

/// The limits of a route, and what identities see of the request if it is for that route.
struct RouteEvidence {
  std::span<const Limit> limits;
  identity::Evidence evidence;
};

class Limiter {
 public:
  /// Decides with the memory store alone.
  Limiter(const Settings& config, store::MemoryStore& memory);
  /// Decides with Redis; `memory` is for when that does not decide. `seed`: random in production.
  Limiter(const Settings& config, store::MemoryStore& memory, redis::Store& shared,
          const redis::Options& options, std::uint64_t seed);

  /// `routes`: those that the request may be for, the one that takes it first. The limits of all of
  /// them apply; the same policy and key in two of them is charged once, with the higher cost.
  Verdict decide(std::span<const RouteEvidence> routes, Instant now);

  /// Right after decide() or conclude() said undecided, with the same `now`: sends the question, or
  /// waits for the answer to one about the same key. `receiver` is told once, later, within the
  /// store's timeout from decide(); then conclude() has to be called, but not by the receiver,
  /// whatever has become of the request.
  void ask(Inquiry& inquiry, redis::Receiver& receiver, Instant now) noexcept;
  /// The verdict from the answer; the rest is needed to decide without one. Views `inquiry`.
  Verdict conclude(Inquiry& inquiry, redis::StoreError error, std::span<const RouteEvidence> routes,
                   Instant now);

  /// With every tick of the worker: where the last word of Redis was no decision, or the breaker is
  /// open, asks whether one can be had by now, so that it is known without a request.
  void probe(Instant now);

  /// The key was reset: denials of it are no longer believed.
  void forget(const Hash128& identity, std::uint32_t policy_id);

  /// One a policy, in the configuration's order.
  std::span<const PolicyCounters> counters() const { return counters_; }
  /// nullptr with the memory store.
  const SharingCounters* sharing() const { return shared_ ? &shared_->counters : nullptr; }
  /// Why the shared store did not decide, the last time it did not.
  redis::StoreError last_error() const {
    return shared_ ? shared_->last_error : redis::StoreError::none;
  }

 private:
  /// What the routes' limits ask of the store.
  struct Claims {
    std::size_t count = 0;
    Outcome refusal = Outcome::unlimited;  ///< else why there is nothing to decide
    std::optional<std::size_t> refusing{};
    identity::Ambiguity ambiguity{};
  };
  /// A request that decide() left to ask().
  struct Undecided {
    std::size_t claims = 0;
    Instant arrived_at{};
    Inquiry* asker = nullptr;                ///< whose answer is to be waited for
    std::optional<DenialMemory::Key> ended;  ///< else, the demand that nobody asks about yet
  };
  /// Keeps the answer for the next tick: the store is in the middle of telling its answers.
  struct ProbeAnswer final : redis::Receiver {
    void on_answer(redis::StoreError its_error) override { error = its_error; }
    bool is_awaited = false;
    std::optional<redis::StoreError> error;
  };
  /// What is needed besides when instances share a store.
  struct Shared {
    Shared(redis::Store& its_store, const redis::Options& options, std::uint64_t seed);
    redis::Store& store;
    Duration timeout;  ///< of a decision
    Breaker breaker;
    DenialMemory denials;
    SharingCounters counters;
    Undecided undecided{};
    ProbeAnswer probe{};
    redis::StoreError last_error = redis::StoreError::none;
  };

  Claims make_claims(std::span<const RouteEvidence> routes);
  Outcome add_claims(const RouteEvidence& route, Claims& claims);
  bool is_claimed(const Limit& limit, const Hash128& identity, std::size_t count);
  Verdict acquire(std::size_t count, Instant now, Decider decider);
  void count_outcomes(const Verdict& verdict);

  Verdict decide_shared(std::size_t count, Instant arrived_at, Instant now);
  void find_asker(Instant now);
  void settle(Inquiry& inquiry, bool left) noexcept;
  bool may_be_remembered(std::size_t count) const;
  std::optional<Verdict> recall(std::size_t count, Instant now);
  bool may_ask(Instant now);
  bool is_let_through(Instant now);
  Verdict decide_alone(std::size_t count, Instant now);
  void note_failure(redis::StoreError error, Instant now);
  void note_success();
  bool remember(const Inquiry& inquiry, Instant now);
  DenialMemory::Key key_of(const LimitVerdict& limit) const;
  std::size_t index_of(const Policy& policy) const;

  const Settings& config_;
  store::MemoryStore& memory_;
  std::vector<PolicyCounters> counters_;
  ResolvedIdentities identities_;
  AttributeTexts attributes_;
  std::array<store::Claim, limits_per_route> claims_;
  std::array<rules::Decision, limits_per_route> decisions_;
  std::array<LimitVerdict, limits_per_route> limits_;
  std::unique_ptr<Shared> shared_;
};

}  // namespace weir::limiter
