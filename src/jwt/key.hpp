// A key that verifies signatures, and how it is read from a JWK (RFC 7517 section 4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "json/read.hpp"
#include "jwt/jws_algorithm.hpp"
#include "jwt/key_material.hpp"

namespace weir::jwt {

/// Immutable after it is read; several threads may use it at the same time.
struct Key {
  std::optional<std::string> id;          ///< `kid`
  std::optional<JwsAlgorithm> algorithm;  ///< `alg`: the only one it may be used for
  KeyType type = KeyType::rsa;
  std::size_t secret_size = 0;  ///< bytes of a secret
  KeyMaterial material;

  /// Whether the key may verify signatures of this algorithm: its type and curve fit, the secret is
  /// at least as long as the hash (RFC 7518 section 3.2), and `alg` is absent or the same.
  bool fits(JwsAlgorithm wanted) const;
};

/// The origin of keys, which decides about the kinds that are accepted.
enum class KeyOrigin : std::uint8_t {
  published,   ///< a JWK set that others can read: public keys only
  configured,  ///< a secret in the configuration: keys for HMAC only
};

/// Returns whether the key is meant for verifying signatures: `use` is absent or `sig`, `key_ops`
/// is absent or contains `verify`.
bool is_for_verifying(const json::Value& jwk);

/// Whether the key has members that only the issuer may know. They are never used.
bool has_private_members(const json::Value& jwk);

/// Reads a key that `is_for_verifying`. The problem says what is wrong and contains nothing of the
/// key.
Result<Key> read_key(const json::Value& jwk, KeyOrigin origin);

/// A key for HMAC from the bytes of a secret, for all its algorithms.
Result<Key> secret_key(std::string_view secret);

}  // namespace weir::jwt
