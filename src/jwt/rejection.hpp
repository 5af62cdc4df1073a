// Why a token is invalid, and how this is described to the client.
#pragma once

#include <cstdint>
#include <string_view>

namespace weir::jwt {

enum class Rejection : std::uint8_t {
  too_large,
  not_compact,     ///< not three parts, or the header or the signature is empty
  unsigned_token,  ///< the signature is empty, and the algorithm is none
  not_base64url,
  bad_header,
  bad_payload,
  duplicate_member,
  too_complex,  ///< JSON that is nested too deeply or has too many values
  unsupported_algorithm,
  disallowed_algorithm,
  encrypted,  ///< a JWE, a compressed token, or a token within a token
  unsupported_extension,
  bad_key_id,
  wrong_type,
  unknown_key,     ///< the set has no key for the token
  unsuitable_key,  ///< the key is of another type or for another algorithm
  bad_signature,
  wrong_issuer,
  wrong_audience,
  bad_date,  ///< exp, nbf or iat is not a NumericDate
  no_expiry,
  expired,
  not_yet_valid,
  issued_in_future,
  too_old,
  bad_subject,
};

/// A short text for `error_description` (RFC 6750 section 3): printable ASCII without quotation
/// marks and backslashes. It is constant, so it contains nothing of the token.
std::string_view description_of(Rejection rejection);

}  // namespace weir::jwt
