// Writes tokens for tests.
#pragma once

#include <string>
#include <string_view>

namespace weir::jwt {

inline std::string encode_base64url(std::string_view bytes) {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  unsigned int bits = 0;
  unsigned int count = 0;
  for (const char c : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6)
      text += alphabet[(bits >> (count - 6)) & 63];
  }
  if (count > 0) text += alphabet[(bits << (6 - count)) & 63];
  return text;
}

/// Header and payload, which a signature covers.
inline std::string unsigned_token(std::string_view header, std::string_view payload) {
  return encode_base64url(header) + '.' + encode_base64url(payload);
}

/// A token whose signature is not valid.
inline std::string token_of(std::string_view header, std::string_view payload) {
  return unsigned_token(header, payload) + ".c2ln";
}

}  // namespace weir::jwt
