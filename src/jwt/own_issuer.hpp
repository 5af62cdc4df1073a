// Makes tokens: for the tests of limits, whose requests stand for ones with a valid token. Weir
// issues no tokens. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "jwt/key_set.hpp"
#include "jwt/provider.hpp"

namespace weir::jwt {

/// A secret of this process, and the key that verifies its signatures.
class OwnIssuer {
 public:
  /// `secret`: at least 32 bytes that nobody else knows.
  explicit OwnIssuer(std::string secret);

  /// Makes the provider accept the tokens of this issuer beside others. Returns its keys with the
  /// one of the issuer.
  KeySet join(Provider& provider, const KeySet& keys) const;
  /// Returns a token with these claims, the text of a JSON object. `type`: as Provider::type.
  std::string token(std::string_view claims, std::string_view type) const;

 private:
  std::string secret_;
  std::string key_id_;
};

}  // namespace weir::jwt
