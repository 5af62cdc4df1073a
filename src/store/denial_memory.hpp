// Recent denials of the remote store, so that it is not asked again before its answer could change.
// Bounded: a new entry without room evicts the one that ends soonest.
//
// Exact. Redis executed a question after it was sent, and a denial holds for retry_after from then
// whatever else comes; so until sent_at + retry_after the same demand on the same key is denied.
// That an operator resets the key, or another instance another policy, is noticed after `longest`
// at the latest. Nothing here may be used where a denial has to be charged (count_rejected), or for
// a demand with overdraft. Belongs to one worker.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/siphash.hpp"
#include "base/time.hpp"
#include "rules/decision.hpp"
#include "store/claim.hpp"
#include "store/key_hash.hpp"

namespace weir::store {

struct Flight;

/// The decision about the same demand right after this one, which was without overdraft. An
/// admission that left one unit too few contains the time when more is available: that is a denial
/// and its retry time. Empty: denied, but the retry time is unknown.
std::optional<rules::Decision> decision_after(const rules::Decision& decision, std::int64_t cost);

class DenialMemory {
 public:
  /// No denial is believed for longer.
  static constexpr Duration longest = std::chrono::seconds(5);

  /// A demand on a key.
  struct Key {
    Hash128 identity;
    std::uint32_t policy_id = 0;
    std::uint32_t revision = 0;  ///< of the policy's definition
    std::int64_t cost = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  static Key key_of(const Claim& claim) {
    return {.identity = claim.identity,
            .policy_id = claim.policy_id,
            .revision = claim.policy_revision,
            .cost = claim.demand.cost};
  }

  /// `sets` of four entries each: a power of two. `seed` of the hash: random in production.
  DenialMemory(std::size_t sets, std::uint64_t seed) : hash_(seed), sets_(sets) {}

  /// Keeps the decision about a claim of a request that is denied. The instants are of our own
  /// clock. An allowed claim is kept too, to be shown; it replaces an earlier denial.
  void remember(const Key& key, const rules::Decision& decision, Instant sent_at,
                Instant answered_at);

  /// The same demand, as the store would answer it now as far as is known: if it is denied, then
  /// for certain; its durations have shrunk by the time that has passed, and are never too short.
  /// Empty: nothing is known.
  std::optional<rules::Decision> recall(const Key& key, Instant now) const;

  /// A demand whose denial expired no longer ago than `longest` has a place to note the flight that
  /// asks about it now; nullptr for any other demand. remember() clears the place.
  Flight** asking(const Key& key, Instant now);
  /// The flight has its answer, and is noted no more. If it `left` enough for another such demand,
  /// the denial is forgotten.
  void land(const Key& key, const Flight& flight, bool left);

  /// The key was reset: nothing is known of it, whatever the cost.
  void forget(const Hash128& identity, std::uint32_t policy_id);

 private:
  struct Entry {
    Key key;
    bool allowed = false;
    bool is_final = false;  ///< it never passes: there is no retry_after
    Instant until{};        ///< known up to here; an empty entry ended long ago
    Instant answered_at{};
    std::int64_t limit = 0;
    std::int64_t remaining = 0;
    Duration reset_after{0};
    Duration more_after{0};
    Duration retry_after{0};
    Flight* asking = nullptr;
  };
  using Set = std::array<Entry, 4>;

  std::size_t position(const Hash128& identity, std::uint32_t policy_id) const {
    return hash_(identity, policy_id) & (sets_.size() - 1);
  }

  store::KeyHash hash_;
  std::vector<Set> sets_;
};

}  // namespace weir::store
