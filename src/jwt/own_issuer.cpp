#include "jwt/own_issuer.hpp"

#include <array>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdexcept>
#include <utility>

namespace weir::jwt {
namespace {

constexpr auto own_algorithm = JwsAlgorithm::hs256;

/// base64url without padding (RFC 4648 section 5).
std::string encoded(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6)
      text += digits[bits >> (count - 6) & 63];
  }
  if (count > 0) text += digits[bits << (6 - count) & 63];
  return text;
}

std::string code_of(std::string_view text, std::string_view secret) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> code{};
  unsigned int size = 0;
  if (HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), code.data(),
           &size) == nullptr)
    throw std::runtime_error("HMAC failed");
  return {reinterpret_cast<const char*>(code.data()), size};
}

}  // namespace

/// The ID of the key is unlike any other: nobody knows the secret.
OwnIssuer::OwnIssuer(std::string secret)
    : secret_(std::move(secret)), key_id_("weir-test-" + encoded(code_of("key id", secret_))) {}

KeySet OwnIssuer::join(Provider& provider, const KeySet& keys) const {
  provider.algorithms.add(own_algorithm);
  Key key = secret_key(secret_).value();
  key.id = key_id_;
  key.algorithm = own_algorithm;
  return keys.with(std::move(key));
}

std::string OwnIssuer::token(std::string_view claims, std::string_view type) const {
  std::string header = R"({"alg":"HS256","typ":")";
  header.append(type).append(R"(","kid":")").append(key_id_).append("\"}");
  const std::string text = encoded(header) + '.' + encoded(claims);
  return text + '.' + encoded(code_of(text, secret_));
}

}  // namespace weir::jwt
