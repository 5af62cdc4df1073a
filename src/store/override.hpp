// Overrides of one identity: other numbers for a policy, no limit, or a denial; until an instant or
// permanently. The store keeps them beside the counts, and the call that decides reads them.
//
// Values, a pure function that chooses among them, and the interface to change and list them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/siphash.hpp"
#include "base/time.hpp"
#include "rules/decision.hpp"
#include "rules/policy.hpp"
#include "store/error.hpp"

namespace weir::store {

/// The most overrides that an identity can have.
inline constexpr std::size_t overrides_per_identity = 16;

/// The terms of a policy under a plan.
struct PlanNumbers {
  std::string policy;                      ///< its name
  std::uint32_t policy_id = 0;             ///< of `policy`
  std::optional<rules::Policy> numbers{};  ///< empty: no limit
  friend bool operator==(const PlanNumbers&, const PlanNumbers&) = default;
};

struct Override {
  /// `plan` is for all policies. It changes those that are listed in `plan`.
  enum class Kind : std::uint8_t { numbers, unlimited, denied, plan };
  /// The policy_id of an override for all policies.
  static constexpr std::uint32_t every_policy = std::numeric_limits<std::uint32_t>::max();

  Kind kind = Kind::numbers;
  std::string policy{};                    ///< its name; empty: all policies
  std::uint32_t policy_id = every_policy;  ///< of `policy`
  rules::Policy numbers{};                 ///< Kind::numbers: in place of the policy's
  std::vector<PlanNumbers> plan{};         ///< Kind::plan
  std::optional<Instant> until{};          ///< on the wall clock: from then on it does not count
  /// Members of a JSON object, for lists: `"rate":"6000/1m","note":"launch"`. No control
  /// characters.
  std::string details{};
  friend bool operator==(const Override&, const Override&) = default;
};

/// The override that applies to a claim.
struct OverrideInForce {
  rules::OverrideEffect effect = rules::OverrideEffect::none;
  const rules::Policy* numbers = nullptr;  ///< OverrideEffect::numbers
  std::optional<Duration> ends_after{};
};

/// Returns the override among those of an identity that applies to a policy at an instant: a denial
/// before all others, then one of the policy, then one of all policies. Numbers are malformed if
/// the policy's algorithm, anchor or count_rejected has changed since.
OverrideInForce in_force(std::span<const Override> overrides, std::uint32_t policy_id,
                         const rules::Policy& policy, Instant now);

/// An override as a list shows it.
struct ListedOverride {
  Hash128 identity;
  std::string policy{};   ///< empty: all policies
  std::string details{};  ///< Override::details; empty if it is malformed
  bool is_malformed = false;
};

/// The result of a call that changes or lists overrides.
struct OverrideReport {
  enum class Outcome : std::uint8_t {
    done,
    absent,   ///< there was none to remove
    full,     ///< the identity has overrides_per_identity others
    no_room,  ///< as many identities have overrides as the store has room for
    failed,   ///< the store did not answer: see `error`
  };
  Outcome outcome = Outcome::done;
  Error error = Error::none;  ///< out_of_memory: of Redis or of this process
  std::vector<ListedOverride> overrides{};
  bool is_complete = true;  ///< false: a list that has reached its bound
};

/// A store of overrides, for the admin API. Each call reports once: at once, or later on the loop
/// of the caller. `now`: on the wall clock.
class Overrides {
 public:
  using Done = std::function<void(OverrideReport)>;

  /// Adds an override, or replaces that of the same policy.
  virtual void put(const Hash128& identity, const Override& entry, Instant now, Done done) = 0;
  /// Removes the override of that policy; empty: the one for all policies.
  virtual void remove(const Hash128& identity, const std::string& policy, Instant now,
                      Done done) = 0;
  /// Reports a change that ends remembered denials, as put() and remove() do: from some time later
  /// on (DenialConfirmation::settled_after) no instance uses one from before.
  virtual void end_denials(Done done) = 0;
  /// Lists the overrides of an identity, or of all, that have not ended. Once `over` is requested
  /// to stop, nobody needs the list: the rest is not read, and the report is not complete.
  virtual void list(const std::optional<Hash128>& identity, Instant now, std::stop_token over,
                    Done done) = 0;

 protected:
  ~Overrides() = default;
};

}  // namespace weir::store
