// The state of one key of the remote store as a worker knows it from the latest reply, for denials
// that need not be asked again and for the fields of their responses.
//
// The reply does not contain the state. For gcra, leaky_bucket and token_bucket a state follows
// from its numbers that is at most a microsecond behind the true one; the rules decide with it, at
// any later time and for any cost. For other algorithms, and for numbers of an override, the level
// of the reply holds until it may have risen, and the retry times of a few costs are kept beside
// it.
//
// Two clocks: the store decided between `sent_at` and `answered_at` of the local one. A demand
// counts as denied only if it is even if the store decided at `sent_at`; all durations and the
// units left count from `answered_at`. So nothing is denied that the store would admit, no retry
// time is too short, and no more units are shown than are left. Pure values; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "base/time.hpp"
#include "rules/decision.hpp"
#include "rules/gcra.hpp"
#include "rules/leaky_bucket.hpp"
#include "rules/token_bucket.hpp"
#include "store/claim.hpp"
#include "store/observed_level.hpp"

namespace weir::store {

class RememberedState {
 public:
  RememberedState() = default;

  /// Replaces the state by that of a reply. `charged`: the reply's request was charged to the key.
  void update(const Claim& claim, const rules::Decision& decision, Exchange exchange, bool charged);

  /// The store's decision about a request with this claim that is denied, by this claim or another.
  /// Empty: unknown. The policy is that of the reply.
  std::optional<rules::Decision> decide(const Claim& claim, Instant now) const;
  /// The instant until which the demand is denied at least, Instant::max() if it never passes;
  /// empty: the reply leaves enough for it.
  std::optional<Instant> denied_until(const Claim& claim) const;

  Instant sent_at() const { return exchange_.sent_at; }

 private:
  /// An override or an exemption decides, whatever the cost.
  struct Fixed {
    bool allowed = false;
    std::int64_t remaining = 0;
  };
  using Known = std::variant<ObservedLevel, Fixed, rules::GcraState, rules::LeakyBucketState,
                             rules::TokenBucketState>;

  static std::optional<Known> computed(const Claim& claim, const rules::Decision& decision,
                                       Instant at);
  std::optional<rules::Decision> level_of(const Claim& claim, Instant now) const;

  Exchange exchange_;
  std::int64_t limit_ = 0;
  rules::OverrideEffect override_effect_ = rules::OverrideEffect::none;
  std::optional<Duration> refill_;    ///< of an override
  Instant ends_at_ = Instant::max();  ///< of an override
  Known known_;
};

}  // namespace weir::store
