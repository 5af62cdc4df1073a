// Verifies a token: the entry of this room.
//
// Pure: time, keys and settings are arguments, and nothing is fetched. Thread-safe. The result
// depends on nothing else, so it can be stored with the token's hash until `valid_until` or until
// the keys change.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.hpp"
#include "jwt/claims.hpp"
#include "jwt/key_set.hpp"
#include "jwt/provider.hpp"
#include "jwt/rejection.hpp"

namespace weir::jwt {

/// The token is valid now.
struct Verified {
  std::vector<Claim> claims;  ///< in the order of Provider::claims
  ValidUntil valid_until;
};

/// The token is invalid. With the same keys it is invalid later too, except for the rejections
/// `not_yet_valid` and `issued_in_future`.
struct Rejected {
  Rejection reason = Rejection::bad_signature;
};

/// The set has no key for the token, and everything that needs no key is valid. The issuer may have
/// published the key since; whether the set is fetched again is the caller's decision, because
/// clients can invent key IDs.
struct NeedsKey {
  std::optional<std::string> id;  ///< nothing: the token has no key ID
};

using Verification = std::variant<Verified, Rejected, NeedsKey>;

/// Checks, in this order: the format, the algorithm and the type, the claims, the key, and the
/// signature, which is the most expensive. At most `most_candidates` keys are tried. `now` is wall
/// time.
Verification verify(std::string_view token, const Provider& provider, const KeySet& keys,
                    Instant now);

}  // namespace weir::jwt
