// The interface between the limiter and the stores of the counts.
//
// A store decides all claims of a request together: all are charged or none. It returns its result
// at once, or passes it to a Completion exactly once, later and never from within the call that
// asked. Time is an argument. The memory store (store/memory_store.hpp), the Redis store
// (redis/node.hpp) and every link between the limiter and Redis (store/chain.hpp) implement it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/siphash.hpp"
#include "base/time.hpp"
#include "rules/attributed_window.hpp"
#include "rules/decision.hpp"
#include "store/claim.hpp"
#include "store/error.hpp"

namespace weir::store {

/// The store that made a decision, for the access log and the metrics.
enum class Decider : std::uint8_t {
  memory,  ///< the memory store, without Redis
  redis,   ///< Redis, or a remembered denial of Redis
  local,   ///< this instance alone, by on_failure
};
inline constexpr std::size_t decider_count = 3;

constexpr std::string_view to_string(Decider decider) {
  switch (decider) {
    case Decider::memory:
      return "memory";
    case Decider::redis:
      return "redis";
    case Decider::local:
      break;
  }
  return "local";
}

/// The claims of an acquisition that have a decision: bit i for claims[i].
using ClaimSet = std::uint16_t;
static_assert(claims_per_request <= 8 * sizeof(ClaimSet));

constexpr ClaimSet first_claims(std::size_t count) {
  return static_cast<ClaimSet>((std::uint32_t{1} << count) - 1);
}
constexpr bool contains(ClaimSet set, std::size_t claim) {
  return (set >> claim & 1U) != 0;
}

struct Result {
  bool admitted = false;
  Error error = Error::none;  ///< any other value: no store decided, and no decision is written
  Decider decider = Decider::memory;
  /// The claims that have a decision. The others did not take part: they do not limit the request,
  /// or a remembered denial of another claim decided it.
  ClaimSet decided = 0;
  /// Of `decided`, those that this instance decided alone, by on_failure: its own store holds their
  /// units.
  ClaimSet alone = 0;

  friend bool operator==(const Result&, const Result&) = default;
};

/// The claims of one request and, once decided, their decisions. Owned by the caller, who keeps it
/// in its place until the result.
struct Acquisition {
  std::span<const Claim> claims;  ///< at most claims_per_request
  /// decisions[i] belongs to claims[i]; at least as many.
  std::span<rules::Decision> decisions;
  Instant arrived_at{};  ///< the decision is due the store's timeout later, queueing included
  /// When the request was sent to the remote store; empty: it was not. Written by the chain.
  std::optional<Instant> asked_at{};
  /// The remote store is busy: the request may wait there for the next reply, so that more requests
  /// share a call. Written by the chain.
  bool may_gather = false;
  /// Further requests with the same claims for which the remote store decides too: if it denies
  /// this one, each claim with count_rejected is charged for all, and the decisions are those of
  /// the last. If it admits this one, they have no result. Written by the chain.
  std::uint32_t repeats = 0;
  /// For peek(): Decision::held_by_others has the units that all requests in progress hold.
  bool shows_held = false;
};

/// Receives a result later. Called exactly once for each call that returned nothing, on the loop of
/// the caller, never from within a call of the store. May call the store, which does not use the
/// acquisition any more.
class Completion {
 public:
  virtual void complete(const Result& result, Instant now) noexcept = 0;

 protected:
  ~Completion() = default;
};

/// A state in a store: one identity under one policy.
struct Key {
  Hash128 identity;
  std::uint32_t policy_id = 0;
};

/// Ends one hold, or gives units back that were charged before, or both.
struct Settlement {
  const rules::Policy* policy = nullptr;
  Key key;
  std::int64_t held = 0;    ///< units to release
  std::int64_t actual = 0;  ///< units to charge; negative: a refund of -actual units
  bool alone = false;       ///< this instance's own store holds the units: see Result::alone
  /// attributed_window: the fields of the entry. Copies, because the request may have ended.
  std::vector<std::string> attributes{};
};

/// The attributes of a claim, for its settlement.
inline std::vector<std::string> copied_attributes(const Claim& claim) {
  std::vector<std::string> texts;
  texts.reserve(claim.attributes.size());
  for (const std::string_view text : claim.attributes)
    texts.emplace_back(rules::attribute_text(text));
  return texts;
}

class Store {
 public:
  Store() = default;
  virtual ~Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// Decides all claims together and charges all or none; nothing is returned if the result is
  /// passed to `completion` instead, within the store's timeout from arrived_at. Admitted: every
  /// non-shadow claim is allowed; those and each shadow claim that allows are charged, or held
  /// until settle() if the claim holds. A policy with count_rejected is charged even if it, or the
  /// request, is denied; an allowed claim then has a retry_after if the same demand would not pass
  /// again at once. Several claims on one key see each other.
  virtual std::optional<Result> acquire(Acquisition& acquisition, Completion& completion,
                                        Instant now) = 0;
  /// Reads the state of the claims' keys as acquire() with cost 0 would, and charges nothing. An
  /// error is returned as it is: no other store answers instead.
  virtual std::optional<Result> peek(Acquisition& acquisition, Completion& completion,
                                     Instant now) = 0;
  /// Removes a key: its next request finds a fresh state. Only `error` of the result matters.
  virtual std::optional<Result> forget(const Key& key, Completion& completion, Instant now) = 0;
  /// Ends holds, each once: a second call with the same settlement ends another hold of the key.
  /// Charges under the numbers of an override in force, else under the settlement's policy. An
  /// absent key is charged as a fresh one. A refund gives back at most the units that are used
  /// (docs/algorithms.md); concurrency has none. Never waits and never fails the request; a
  /// settlement that cannot be applied is counted as lost.
  virtual void settle(std::span<const Settlement> settlements, Instant now) = 0;
};

}  // namespace weir::store
