#include "tls/digest.hpp"

#include <array>
#include <openssl/evp.h>
#include <stdexcept>

namespace weir::tls {
namespace {

std::string digest(const EVP_MD* algorithm, std::string_view data) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  if (::EVP_Digest(data.data(), data.size(), bytes.data(), &size, algorithm, nullptr) != 1)
    throw std::runtime_error("SHA-256 or SHA-1 is not available");
  return {bytes.begin(), bytes.begin() + size};
}

std::string hex_digest(const EVP_MD* algorithm, std::string_view data) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char byte : digest(algorithm, data)) {
    const auto value = static_cast<unsigned char>(byte);
    text += digits[value >> 4];
    text += digits[value & 15];
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

std::string sha1(std::string_view data) {
  return digest(::EVP_sha1(), data);
}

std::string base64(std::string_view data) {
  std::string text(4 * ((data.size() + 2) / 3) + 1, '\0');  // and the NUL that is written
  const int size = ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(data.data()),
                                     static_cast<int>(data.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

}  // namespace weir::tls
