// The decision of a policy about one request. Plain values; durations are exact and rounded only
// when a field is written.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace weir::rules {

/// One request's demand on one policy.
struct Demand {
  /// In units; 0 reads without charging. Never negative: the configuration refuses it, the rules
  /// read it as 0.
  std::int64_t cost = 1;
  bool overdraft = false;  ///< admit a cost above the rest, and take the rest
};

/// Whether a demand may pass now, before anything is charged.
struct Admission {
  bool allowed = false;
  /// Units to charge if the whole request is admitted; less than the cost in overdraft.
  std::int64_t units = 0;
  Duration delay{0};  ///< leaky_bucket: how long the admitted request waits for its turn
  /// Denied: the time until the same demand passes if no other request comes; empty: never. With
  /// count_rejected the denial itself counts as charged.
  std::optional<Duration> retry_after{};
};

/// How full a state is at an instant, after the charge if there was one.
struct Level {
  std::int64_t remaining = 0;  ///< units that would pass at once
  Duration reset_after{0};     ///< until the quota is whole
  Duration more_after{0};      ///< until more than `remaining` is available; 0 when whole
};

/// The effect of an override of the identity on a claim.
enum class OverrideEffect : std::uint8_t {
  none,       ///< there is none: the numbers of the policy are in force
  numbers,    ///< its numbers are in force
  unlimited,  ///< the policy does not limit this identity: allowed, nothing charged
  denied,     ///< this identity is denied, whatever is left
  malformed,  ///< it cannot be read: the numbers of the policy are in force
};

/// Both together: the answer of a store to one claim.
struct Decision {
  bool allowed = false;
  std::int64_t limit = 0;
  std::int64_t remaining = 0;
  Duration reset_after{0};
  Duration more_after{0};
  Duration delay{0};
  std::optional<Duration> retry_after{};
  OverrideEffect override_effect = OverrideEffect::none;
  /// Policy::refill of the numbers in force: those of an override or of a local share; empty: those
  /// of the claim's policy.
  std::optional<Duration> refill{};
  std::optional<Duration> ends_after{};  ///< until the override ends; empty: it does not
  std::int64_t held = 0;  ///< units that the claim holds from now on: to release when it settles
  /// Holds or a debt of the key affect the decision: time alone does not show when that changes.
  bool by_holds = false;
  /// Units in leases of others, which may come back at any time. Only of a policy with leases; of a
  /// look that asks for it (store::Acquisition::shows_held) all units that are held.
  std::int64_t held_by_others = 0;
  friend bool operator==(const Decision&, const Decision&) = default;
};

}  // namespace weir::rules
