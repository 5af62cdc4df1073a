#include "tls/digest.hpp"

#include <array>
#include <openssl/evp.h>
#include <stdexcept>

namespace weir::tls {
namespace {

std::string hex_digest(const EVP_MD* algorithm, std::string_view data) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (::EVP_Digest(data.data(), data.size(), digest.data(), &size, algorithm, nullptr) != 1)
    throw std::runtime_error("SHA-256 or SHA-1 is not available");
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += digits[digest[i] >> 4];
    text += digits[digest[i] & 15];
  }
  return text;
}

}  // namespace

std::string sha256_hex(std::string_view data) {
  return hex_digest(::EVP_sha256(), data);
}

std::string sha1_hex(std::string_view data) {
  return hex_digest(::EVP_sha1(), data);
}

}  // namespace weir::tls
