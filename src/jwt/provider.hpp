// How the tokens of one issuer are verified: the part of an entry of `jwt_providers` that decides
// about a token. The place of the token and the source of the keys are not part of it.
//
// Immutable once it is filled in; several threads may use it at the same time.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "jwt/jws_algorithm.hpp"

namespace weir::jwt {

struct Provider {
  AlgorithmSet algorithms;             ///< all others are rejected
  std::optional<std::string> issuer;   ///< compared with `iss` byte for byte; nothing: not checked
  std::vector<std::string> audiences;  ///< one of them must be in `aud`; empty: not checked
  std::optional<std::string> type;     ///< compared with `typ`, see is_type(); nothing: not checked
  Duration leeway = std::chrono::seconds(30);  ///< for differences of clocks, not negative
  bool is_expiry_required = true;
  std::optional<Duration> max_age;  ///< since `iat`, which is then required; nothing: unlimited
  std::size_t max_size = 8 * 1024;  ///< of a token, in bytes
  std::vector<std::string> claims;  ///< paths of the claims to return, see find_claim()
  friend bool operator==(const Provider&, const Provider&) = default;
};

}  // namespace weir::jwt
