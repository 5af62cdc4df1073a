// Takes a token apart: the compact serialization of JWS (RFC 7515 section 7.1).
//
// Memory and time are proportional to the size of the token, which is limited. Nothing is verified
// here. Members that name a key or where to get one (`jku`, `jwk`, `x5u`, `x5c`) are ignored. Pure
// and thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "json/read.hpp"
#include "jwt/jws_algorithm.hpp"
#include "jwt/rejection.hpp"

namespace weir::jwt {

/// Compares names of types, as in `typ` and `cty` (RFC 7515 sections 4.1.9 and 4.1.10), without
/// case and without the prefix `application/` of either: `at+jwt`, `AT+JWT` and
/// `application/at+jwt` are the same type (RFC 8725 section 3.11).
bool is_type(std::string_view text, std::string_view expected);

inline constexpr std::size_t longest_key_id = 128;

struct Header {
  JwsAlgorithm algorithm = JwsAlgorithm::hs256;
  std::optional<std::string> key_id;  ///< never empty, at most `longest_key_id` bytes
  std::optional<std::string> type;    ///< `typ`
};

struct Token {
  Header header;
  std::string payload;  ///< may be empty, and need not be JSON
  std::string signature;
  std::size_t signed_size = 0;  ///< the first bytes of the token are what the signature covers
};

/// `max_size` is in bytes.
Result<Token, Rejection> parse_token(std::string_view token, std::size_t max_size);

/// Reads the claims of a JWT (RFC 7519 section 7.2) from its payload: an object.
Result<json::Value, Rejection> read_payload(const Token& token);

}  // namespace weir::jwt
