// Keys of the remote store that deny, and the other keys of denied requests, with their states
// after the latest reply: a denial is repeated without asking, and its response shows all limits.
// Bounded: a new entry may replace the one that expires first.
//
// Exact. Redis executes a question after it was sent, and a denial holds for retry_after from then,
// so until sent_at + retry_after the same demand on the same key is denied, unless overrides
// change: see store/denial_confirmation.hpp. A key that is reset, or a policy that another instance
// changes, takes effect after `longest` at the latest. For policies with count_rejected, whose
// denials are charged, only the place of a flight is used. Belongs to one worker.
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
#include "store/remembered_state.hpp"

namespace weir::store {

struct Flight;

class DenialMemory {
 public:
  /// The longest time for which a state is used.
  static constexpr Duration longest = std::chrono::seconds(5);
  /// A denied key may cause so many questions in each `questions_interval` about other limits of
  /// its requests whose states are unknown.
  static constexpr int questions_limit = 8;
  static constexpr Duration questions_interval = std::chrono::milliseconds(250);

  struct Key {
    Hash128 identity;
    std::uint32_t policy_id = 0;
    std::uint32_t revision = 0;  ///< of the policy's definition
    friend bool operator==(const Key&, const Key&) = default;
  };
  static Key key_of(const Claim& claim) {
    return {.identity = claim.identity,
            .policy_id = claim.policy_id,
            .revision = claim.policy_revision};
  }

  /// A decision of the remote store about a claim.
  struct Reply {
    const rules::Decision& decision;
    Exchange exchange;
    bool charged = false;  ///< the key was charged
  };

  /// `sets`: a power of two, of four entries each. `seed`: of the hash; random in production.
  /// `lease`: the time for which a state is used without a confirmation; `longest`: for as long as
  /// it is kept.
  DenialMemory(std::size_t sets, std::uint64_t seed, Duration lease = longest)
      : hash_(seed), sets_(sets), discarded_in_set_at_(sets), lease_(lease) {}

  /// Keeps the state of a key of a request that is denied, or would be now.
  void remember(const Claim& claim, const Reply& reply);
  /// Brings the state of a key up to date; false if it is not kept.
  bool refresh(const Claim& claim, const Reply& reply);

  /// The decision about a claim of a request that is denied, by this claim or another. The store
  /// would deny a demand that is denied here, and no duration is too short. Empty: unknown.
  /// For a request that arrived earlier, the confirmation must have been in force then.
  std::optional<rules::Decision> recall(const Claim& claim, Instant now, Instant arrived_at) const;
  std::optional<rules::Decision> recall(const Claim& claim, Instant now) const {
    return recall(claim, now, now);
  }

  /// For a demand that was denied by the latest reply, at most until `longest` before now: the
  /// place for the flight that asks about it. nullptr for any other demand.
  Flight** asking(const Claim& claim, Instant now);
  /// Removes a flight that has its answer.
  void land(const Key& key, const Flight& flight);

  /// Whether a request that is denied by this claim may cause a question about another limit.
  bool may_ask_for_others(const Claim& claim, Instant now) const;
  /// Counts such a question.
  void count_question(const Claim& claim, Instant now);

  /// No override has changed until `at`: states from before are used for another lease.
  void confirm(Instant at) { confirmed_at_ = std::max(confirmed_at_, at); }
  Instant confirmed_at() const { return confirmed_at_; }
  /// Discards the states whose questions were sent until `at`.
  void discard(Instant at) { discarded_at_ = std::max(discarded_at_, at); }

  /// Removes one key, whose replies to questions sent until `at` are not to be kept.
  void discard(const Hash128& identity, std::uint32_t policy_id, Instant at);
  /// Whether a reply is not to be kept. May also be true for another key of the same set.
  bool is_discarded(const Claim& claim, Instant sent_at) const {
    return sent_at <= key_discarded_at_ &&
           sent_at <= discarded_in_set_at_[position(claim.identity, claim.policy_id)];
  }

  /// Removes a key that was reset.
  void forget(const Hash128& identity, std::uint32_t policy_id);

 private:
  struct Entry {
    Key key;
    RememberedState state;
    bool denies = false;  ///< the demand of the latest reply, or the next one
    Instant until{};      ///< its expiry; long ago if the entry is unused
    Flight* asking = nullptr;
    Instant questions_since{};
    int questions = 0;
  };
  using Set = std::array<Entry, 4>;

  bool is_used(const Entry& entry, Instant now, Instant arrived_at) const {
    const Instant sent_at = entry.state.sent_at();
    return now < sent_at + longest && sent_at > discarded_at_ &&
           arrived_at < std::max(sent_at, confirmed_at_) + lease_;
  }
  std::size_t position(const Hash128& identity, std::uint32_t policy_id) const {
    return hash_(identity, policy_id) & (sets_.size() - 1);
  }
  const Entry* find(const Key& key) const;
  Entry* find(const Key& key);
  void write(Entry& entry, const Claim& claim, const Reply& reply) const;

  store::KeyHash hash_;
  std::vector<Set> sets_;
  std::vector<Instant> discarded_in_set_at_;
  Duration lease_;
  Instant confirmed_at_{};
  Instant discarded_at_{};
  Instant key_discarded_at_{};  ///< the latest of discarded_in_set_at_
};

}  // namespace weir::store
