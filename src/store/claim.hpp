// A claim: one policy, one key and one cost, for a store to decide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "base/counters.hpp"
#include "base/siphash.hpp"
#include "rules/decision.hpp"
#include "rules/policy.hpp"

namespace weir::store {

/// The most claims that a request can have.
inline constexpr std::size_t claims_per_request = 16;

/// A lease (store/lease.hpp) that cannot have so many units saves nothing.
inline constexpr std::int64_t least_leased_units = 4;

/// The decision about a claim while the shared store does not decide.
enum class OnFailure : std::uint8_t {
  local,  ///< by the memory store, with Claim::local_policy
  allow,  ///< the claim does not limit the request
  deny,   ///< the request fails
};

/// Everything it points to stays valid until the result.
struct Claim {
  const rules::Policy* policy = nullptr;
  const rules::Policy* local_policy = nullptr;  ///< OnFailure::local: this instance's share
  Hash128 identity;                             ///< keyed hash of the client's identity
  std::uint32_t policy_id = 0;                  ///< distinguishes the policies of one identity
  std::uint32_t policy_revision = 0;  ///< a remembered denial of another revision does not hold
  bool shadow = false;  ///< decided and charged, but its denial does not deny the request
  /// The policy does not limit this client. Nothing is read or charged, unless an override of the
  /// identity denies it or has numbers.
  bool is_exempt = false;
  /// The units are held until Store::settle() ends the hold, instead of being charged. The memory
  /// store only.
  bool holds = false;
  OnFailure on_failure = OnFailure::local;
  rules::Demand demand;
  std::span<const std::string_view> attributes;  ///< attributed_window: the fields of the entry
  /// Not nullptr: a lease may decide it (store/leases.hpp), which counts its units here.
  const std::shared_ptr<Gauge>* lease = nullptr;
};

/// Whether a claim is exempt or holds. Reads both flags at once, so that a claim with neither costs
/// one comparison.
inline bool is_special(const Claim& claim) {
  static_assert(offsetof(Claim, holds) == offsetof(Claim, is_exempt) + 1);
  std::uint16_t both = 0;
  std::memcpy(&both, reinterpret_cast<const std::byte*>(&claim) + offsetof(Claim, is_exempt),
              sizeof both);
  return both != 0;
}

}  // namespace weir::store
