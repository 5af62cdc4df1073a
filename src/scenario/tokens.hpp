// Requests that stand for ones with a verified token: each gets a token of an issuer of the
// scenario, which the provider then verifies as any other. Not thread-safe.
#pragma once

#include <string>

#include "base/time.hpp"
#include "config/config.hpp"
#include "jwt/own_issuer.hpp"
#include "scenario/scenario.hpp"

namespace weir::scenario {

class Tokens {
 public:
  Tokens();

  /// Makes a provider accept the tokens of this issuer.
  void join(identity::TokenProvider& provider) const;
  /// Adds a token with these claims to the request, in the place where the provider looks for it.
  /// The claims that the provider requires and that are not written are valid from `at` on for
  /// `lifetime`.
  void add(const identity::TokenProvider& provider, const TokenClaims& claims, Instant at,
           Duration lifetime, Request& to) const;

 private:
  jwt::OwnIssuer issuer_;
};

}  // namespace weir::scenario
