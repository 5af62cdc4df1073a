#include "jwt/signature.hpp"

#include <array>
#include <cstddef>
#include <openssl/crypto.h>
#include <optional>
#include <string>

#include "jwt/openssl.hpp"

namespace weir::jwt {
namespace {

/// Returns nullptr for EdDSA, which has its own hash.
const char* hash_name(JwsAlgorithm algorithm) {
  switch (algorithm) {
    case JwsAlgorithm::hs256:
    case JwsAlgorithm::rs256:
    case JwsAlgorithm::ps256:
    case JwsAlgorithm::es256:
      return "SHA256";
    case JwsAlgorithm::hs384:
    case JwsAlgorithm::rs384:
    case JwsAlgorithm::ps384:
    case JwsAlgorithm::es384:
      return "SHA384";
    case JwsAlgorithm::hs512:
    case JwsAlgorithm::rs512:
    case JwsAlgorithm::ps512:
    case JwsAlgorithm::es512:
      return "SHA512";
    case JwsAlgorithm::eddsa:
      break;
  }
  return nullptr;
}

bool is_pss(JwsAlgorithm algorithm) {
  return algorithm == JwsAlgorithm::ps256 || algorithm == JwsAlgorithm::ps384 ||
         algorithm == JwsAlgorithm::ps512;
}

bool has_code(std::string_view text, std::string_view code, const Key& key,
              JwsAlgorithm algorithm) {
  const DigestContextOwner context(EVP_MD_CTX_new());
  std::array<unsigned char, EVP_MAX_MD_SIZE> expected{};
  std::size_t size = expected.size();
  const bool is_computed =
      context &&
      EVP_DigestSignInit_ex(context.get(), nullptr, hash_name(algorithm), nullptr, nullptr,
                            key.material.get(), nullptr) == 1 &&
      EVP_DigestSign(context.get(), expected.data(), &size, bytes_of(text), text.size()) == 1;
  return is_computed && code.size() == size &&
         CRYPTO_memcmp(code.data(), expected.data(), size) == 0;
}

/// Returns the ASN.1 form, which OpenSSL expects, of R || S (RFC 7518 section 3.4). Nothing if the
/// size is wrong or a number is 0; OpenSSL rejects numbers that are not below the order.
std::optional<std::string> asn1_signature(std::string_view raw, std::size_t coordinate) {
  if (raw.size() != 2 * coordinate) return std::nullopt;
  BignumOwner r = bignum_of(raw.substr(0, coordinate));
  BignumOwner s = bignum_of(raw.substr(coordinate));
  const EcdsaSignatureOwner signature(ECDSA_SIG_new());
  if (!r || !s || !signature || BN_is_zero(r.get()) || BN_is_zero(s.get())) return std::nullopt;
  if (ECDSA_SIG_set0(signature.get(), r.get(), s.get()) != 1) return std::nullopt;
  static_cast<void>(r.release());  // the signature owns them now
  static_cast<void>(s.release());
  std::array<unsigned char, 160> bytes{};  // two numbers of 66 bytes and their headers
  unsigned char* end = bytes.data();
  const int size = i2d_ECDSA_SIG(signature.get(), nullptr);
  if (size <= 0 || static_cast<std::size_t>(size) > bytes.size()) return std::nullopt;
  i2d_ECDSA_SIG(signature.get(), &end);
  return std::string(bytes.begin(), bytes.begin() + size);
}

bool has_signature(std::string_view text, std::string_view signature, const Key& key,
                   JwsAlgorithm algorithm) {
  const DigestContextOwner context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* key_context = nullptr;  // owned by the context
  if (!context || EVP_DigestVerifyInit_ex(context.get(), &key_context, hash_name(algorithm),
                                          nullptr, nullptr, key.material.get(), nullptr) != 1)
    return false;
  // RFC 7518 section 3.5: the salt has the size of the hash, and MGF1 uses the same hash.
  if (is_pss(algorithm) &&
      (EVP_PKEY_CTX_set_rsa_padding(key_context, RSA_PKCS1_PSS_PADDING) != 1 ||
       EVP_PKEY_CTX_set_rsa_pss_saltlen(key_context, RSA_PSS_SALTLEN_DIGEST) != 1))
    return false;
  return EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(text),
                          text.size()) == 1;
}

}  // namespace

bool is_signed(std::string_view text, std::string_view signature, const Key& key,
               JwsAlgorithm algorithm) {
  if (!key.material || !key.fits(algorithm)) return false;
  const ErrorScope errors;
  if (key.type == KeyType::secret) return has_code(text, signature, key, algorithm);
  if (const std::size_t coordinate = coordinate_size(key.type); coordinate > 0) {
    const auto converted = asn1_signature(signature, coordinate);
    return converted && has_signature(text, *converted, key, algorithm);
  }
  const auto size = static_cast<std::size_t>(EVP_PKEY_get_size(key.material.get()));
  return signature.size() == size && has_signature(text, signature, key, algorithm);
}

}  // namespace weir::jwt
