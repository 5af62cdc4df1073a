// Checks the claims of a token (RFC 7519 section 4.1), and reads those that identify a client.
//
// Pure and thread-safe. Claims come from the client until the signature is verified.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"
#include "json/read.hpp"
#include "jwt/provider.hpp"
#include "jwt/rejection.hpp"

namespace weir::jwt {

inline constexpr std::size_t longest_subject = 255;  ///< bytes of `sub`

/// The period in which a token is valid ends here, leeway included; nothing: it has no end.
using ValidUntil = std::optional<Instant>;

/// Checks `iss`, `aud`, `exp`, `nbf`, `iat` and `sub`, in this order. With leeway, a token is valid
/// in [nbf - leeway, exp + leeway), and `iat` is at most now + leeway. Each of them may be absent
/// if the provider does not require it, and is never of another type than RFC 7519 defines: a date
/// is a number (see instant_of()), `sub` is a text of 1 to `longest_subject` bytes.
Result<ValidUntil, Rejection> check_claims(const json::Value& payload, const Provider& provider,
                                           Instant now);

enum class ClaimKind : std::uint8_t {
  absent,  ///< missing, null or an empty text
  text,
  number,
  boolean,
  list,  ///< identifies nobody; lists and objects are distinguished for the log
  object,
};

/// A claim as part of an identity. Kind and text together are the identity: the number 5 and the
/// text "5" are different clients, the numbers 5 and 5.0 are the same.
struct Claim {
  ClaimKind kind = ClaimKind::absent;
  /// The text, the number as canonical_text(), or `true` or `false`; empty for other kinds.
  std::string text;
  friend bool operator==(const Claim&, const Claim&) = default;
};

/// Returns the claim at a path. Its parts are separated by dots: `a.b` is the member `b` of the
/// object `a`. A name may contain dots itself, such as `https://example.com/plan`: at each level
/// the longest name that exists is taken first, so a member `a.b` hides the member `b` of `a`. A
/// list has no members.
Claim find_claim(const json::Value& payload, std::string_view path);

}  // namespace weir::jwt
