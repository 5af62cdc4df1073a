// The limits of a route, and what a request shows of the identities that they limit.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "identity/identity.hpp"
#include "limiter/policy.hpp"

namespace weir::limiter {

/// The limits of a route, and the evidence for identities if the request is for that route.
struct RouteEvidence {
  std::span<const Limit> limits;
  identity::Evidence evidence;
  /// The numbers that the body of the request states for the reserve of each limit; empty: none.
  std::span<const std::optional<std::int64_t>> stated{};
};

}  // namespace weir::limiter
