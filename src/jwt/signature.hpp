// Verifies signatures of JWS (RFC 7518 section 3, RFC 8037) with OpenSSL. Thread-safe.
#pragma once

#include <string_view>

#include "jwt/jws_algorithm.hpp"
#include "jwt/key.hpp"

namespace weir::jwt {

/// Whether `signature` is one of `text` by `key`. False too if the key does not fit the algorithm.
/// Codes of HMAC are compared in constant time.
bool is_signed(std::string_view text, std::string_view signature, const Key& key,
               JwsAlgorithm algorithm);

}  // namespace weir::jwt
