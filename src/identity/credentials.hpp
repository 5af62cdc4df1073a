// The credentials of an Authorization field: a scheme, and one word or a list of parameters (RFC
// 9110 section 11.4). Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace weir::identity {

/// Whether all services read the same credentials from the value of a field.
enum class Credentials : std::uint8_t {
  clear,
  base64,  ///< scheme Basic (RFC 7617 section 2) without canonical Base64: characters of RFC 4648
           ///< section 4 only, padded to a multiple of four, bits after the last byte zero (section
           ///< 3.5). Services decode many other spellings to the same value
  words,   ///< several words where services take the first, the last or all of them; or a byte that
           ///< some of them take for a blank
};

/// Judges the value of a field.
///
/// A word after a scheme has no blank, comma, semicolon, quote or backslash, where services cut it;
/// other visible characters are accepted in addition to those of token68, because tokens in use
/// have them ("1|abc" of Laravel, "key:signature" of Azure). Bearer (RFC 6750 section 2.1) has one
/// word, in which "=" may only be at the end. Other schemes may have parameters instead, each
/// beginning with a name and "=", separated by commas; blanks may follow a comma and appear in
/// quoted strings. The scheme Token of Rails has a word as Bearer, or the parameter `token` first
/// and once. A value without a blank has no scheme and is one word.
Credentials judge_credentials(std::string_view field_value);

/// Returns the part of clear credentials that identifies the client: without the scheme, which many
/// services ignore. With the scheme Token only the token counts, because Rails reads the same one
/// from `abc`, `token="abc"` and `token=abc, nonce=1`.
std::string_view counted_credentials(std::string_view field_value);

/// True if a token has the form of the JSON serialization of JWS (RFC 7515 section 7.2), and no
/// service finds another token in it. It is no compact token, and neither are the words of it that
/// services take: the first begins with a brace, the last ends with one. Texts with escapes, and
/// those in which services look for a scheme or a parameter, are not accepted.
bool is_json_token(std::string_view token);

}  // namespace weir::identity
