// Conditions of a limit, `when` and `unless`: the limit applies to a request only if all that is
// named in `when` holds, and not if all that is named in `unless` holds.
//
// Pure; allocates nothing; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/address_list.hpp"
#include "identity/identity.hpp"

namespace weir::limiter {

/// Names at least one of these.
struct Condition {
  std::optional<AddressList> address{};   ///< contains the whole address of the client
  std::vector<std::string> methods{};     ///< contain the method; GET includes HEAD; empty: any
  std::optional<std::size_t> identity{};  ///< index into Settings::identities: it is present
  friend bool operator==(const Condition&, const Condition&) = default;
};

/// A part of a condition that decides it.
enum class ConditionPart : std::uint8_t {
  none,       ///< everything that is named holds
  address,    ///< does not hold
  methods,    ///< does not hold
  identity,   ///< is absent
  ambiguous,  ///< services may read another identity, so presence cannot be decided
  invalid,    ///< the token is invalid or cannot be verified yet, so presence cannot be decided
};

/// As first_unmet(), without the identity.
ConditionPart first_unmet_apart_from_identity(const Condition& condition,
                                              const identity::Evidence& evidence);

/// Returns the first part that does not hold, in the order above. `resolve(index)` returns the
/// Resolution of an identity; it is called only if everything else holds.
template <class Resolve>
ConditionPart first_unmet(const Condition& condition, const identity::Evidence& evidence,
                          Resolve&& resolve) {
  const ConditionPart unmet = first_unmet_apart_from_identity(condition, evidence);
  if (unmet != ConditionPart::none || !condition.identity) return unmet;
  switch (resolve(*condition.identity).state) {
    case identity::Resolution::State::found:
      return ConditionPart::none;
    case identity::Resolution::State::absent:
      return ConditionPart::identity;
    case identity::Resolution::State::invalid:
      return ConditionPart::invalid;
    case identity::Resolution::State::ambiguous:
      break;
  }
  return ConditionPart::ambiguous;
}

}  // namespace weir::limiter
