// Makes OpenSSL keys for verification from the numbers of a JWK (RFC 7518 section 6, RFC 8037).
//
// A key is made once and then only read: several threads may verify with it at the same time. The
// messages contain nothing of the key.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/result.hpp"

struct evp_pkey_st;

namespace weir::jwt {

enum class KeyType : std::uint8_t { rsa, p256, p384, p521, ed25519, ed448, secret };

using KeyMaterial = std::shared_ptr<evp_pkey_st>;

inline constexpr int smallest_rsa_bits = 2048;  ///< RFC 7518 section 3.3
inline constexpr int largest_rsa_bits = 8192;   ///< more makes each verification expensive

/// The bytes of a coordinate, and of R and S of a signature; 0: not an elliptic curve of ECDSA.
std::size_t coordinate_size(KeyType type);

/// The modulus and the exponent are unsigned big-endian numbers. Rejects keys that are weak: too
/// small, with an exponent below 3 or an even one, with a small factor, or made by the defective
/// library of CVE-2017-15361 (ROCA).
Result<KeyMaterial> make_rsa_key(std::string_view modulus, std::string_view exponent);

/// `type`: p256, p384 or p521. The coordinates have the size of the curve's field, and the point
/// must be on the curve.
Result<KeyMaterial> make_ec_key(KeyType type, std::string_view x, std::string_view y);

/// `type`: ed25519 or ed448. OpenSSL decodes the point only when it verifies: with an invalid one,
/// no signature is valid.
Result<KeyMaterial> make_edwards_key(KeyType type, std::string_view x);

/// A key for HMAC.
Result<KeyMaterial> make_secret_key(std::string_view secret);

}  // namespace weir::jwt
