// Recent denials of the remote store, which need not be asked again before its answer could change.
// Bounded: a new entry may replace the one that expires first.
//
// Exact. Redis executes a question after it was sent, and a denial holds for retry_after from then,
// so until sent_at + retry_after the same demand on the same key is denied, unless overrides
// change: see store/denial_confirmation.hpp. A key that is reset, or a policy that another instance
// changes, takes effect after `longest` at the latest. Not for policies with count_rejected, whose
// denials are charged, nor for demands with overdraft. Belongs to one worker.
#pragma once

#include <algorithm>
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

/// The decision about the same demand, without overdraft, right after this one. If an admission
/// leaves one unit too few, its more_after is the retry time of the next denial. Empty: denied, but
/// the retry time is unknown.
std::optional<rules::Decision> decision_after(const rules::Decision& decision, std::int64_t cost);

class DenialMemory {
 public:
  /// The longest time for which a denial is kept.
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

  /// `sets`: a power of two, of four entries each. `seed`: of the hash; random in production.
  /// `lease`: the time for which a denial is used without a confirmation; `longest`: for as long as
  /// it is kept.
  DenialMemory(std::size_t sets, std::uint64_t seed, Duration lease = longest)
      : hash_(seed), sets_(sets), lease_(lease) {}

  /// Keeps the decision about a claim of a request that is denied. The instants are those of the
  /// local clock. An allowed claim is kept too, for the response; it replaces an earlier denial.
  void remember(const Key& key, const rules::Decision& decision, Instant sent_at,
                Instant answered_at);

  /// The remembered decision about the same demand, with its durations less the time that has
  /// passed. The store would deny a demand that is denied here, and no duration is too short.
  /// Empty: nothing is remembered.
  /// For a request that arrived earlier, the confirmation must have been in force then.
  std::optional<rules::Decision> recall(const Key& key, Instant now, Instant arrived_at) const;
  std::optional<rules::Decision> recall(const Key& key, Instant now) const {
    return recall(key, now, now);
  }

  /// For a demand whose denial is not used any more, and expired within the last `longest` or not
  /// at all: the place for the flight that asks about it. nullptr for any other demand. remember()
  /// clears the place.
  Flight** asking(const Key& key, Instant now, Instant arrived_at);
  Flight** asking(const Key& key, Instant now) { return asking(key, now, now); }
  /// Removes a flight that has its answer. If it `left` enough for another such demand, removes the
  /// denial too.
  void land(const Key& key, const Flight& flight, bool left);

  /// No override has changed until `at`: denials from before are used for another lease.
  void confirm(Instant at) { confirmed_at_ = std::max(confirmed_at_, at); }
  Instant confirmed_at() const { return confirmed_at_; }
  /// Discards the denials whose questions were sent until `at`.
  void discard(Instant at) { discarded_at_ = std::max(discarded_at_, at); }

  /// Removes the entries of a key that was reset, for all costs.
  void forget(const Hash128& identity, std::uint32_t policy_id);

 private:
  struct Entry {
    Key key;
    bool allowed = false;
    bool is_final = false;  ///< it can never pass: there is no retry_after
    rules::OverrideEffect override_effect = rules::OverrideEffect::none;
    Instant until{};  ///< its expiry; long ago if the entry is unused
    Instant sent_at{};
    Instant answered_at{};
    std::int64_t limit = 0;
    std::int64_t remaining = 0;
    Duration reset_after{0};
    Duration more_after{0};
    Duration retry_after{0};
    Duration refill{0};  ///< of an override
    Flight* asking = nullptr;
  };
  using Set = std::array<Entry, 4>;

  bool is_used(const Entry& entry, Instant now, Instant arrived_at) const {
    return now < entry.until && entry.sent_at > discarded_at_ &&
           arrived_at < std::max(entry.sent_at, confirmed_at_) + lease_;
  }
  std::size_t position(const Hash128& identity, std::uint32_t policy_id) const {
    return hash_(identity, policy_id) & (sets_.size() - 1);
  }

  store::KeyHash hash_;
  std::vector<Set> sets_;
  Duration lease_;
  Instant confirmed_at_{};
  Instant discarded_at_{};
};

}  // namespace weir::store
