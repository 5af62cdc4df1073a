// An issuer of tokens for tests: makes a key pair or a secret, and signs with it.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <stdexcept>
#include <string>
#include <string_view>

#include "jwt/jws_algorithm.hpp"
#include "unit/jwt/encoding.hpp"

namespace weir::jwt {

inline std::string bytes_of_number(const BIGNUM* number, std::size_t size) {
  std::string bytes(size, '\0');
  if (BN_bn2binpad(number, reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(size)) <
      0)
    throw std::runtime_error("the number is too large");
  return bytes;
}

class Issuer {
 public:
  /// `type`: a curve (`P-256`, `P-384`, `P-521`, `ED25519`, `ED448`), `RSA`, or `oct`.
  explicit Issuer(std::string type) : type_(std::move(type)) {
    EVP_PKEY* key = nullptr;
    if (type_ == "oct") {
      key = EVP_PKEY_new_raw_private_key(EVP_PKEY_HMAC, nullptr,
                                         reinterpret_cast<const unsigned char*>(secret.data()), 64);
    } else if (type_ == "RSA") {
      key = EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{2048});
    } else if (coordinate() > 0) {
      key = EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", type_.c_str());
    } else {
      key = EVP_PKEY_Q_keygen(nullptr, nullptr, type_.c_str());
    }
    if (key == nullptr) throw std::runtime_error("cannot make a key");
    key_.reset(key, EVP_PKEY_free);
  }

  static constexpr std::string_view secret =
      "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

  /// The members of its JWK that contain the public key, or the secret.
  std::string jwk_members() const {
    if (type_ == "oct") return R"("kty":"oct","k":")" + encode_base64url(secret) + '"';
    if (type_ == "RSA")
      return R"("kty":"RSA","n":")" + number(OSSL_PKEY_PARAM_RSA_N, 256) + R"(","e":"AQAB")";
    if (coordinate() > 0)
      return R"("kty":"EC","crv":")" + type_ + R"(","x":")" +
             number(OSSL_PKEY_PARAM_EC_PUB_X, coordinate()) + R"(","y":")" +
             number(OSSL_PKEY_PARAM_EC_PUB_Y, coordinate()) + '"';
    std::array<unsigned char, 57> bytes{};
    std::size_t size = bytes.size();
    EVP_PKEY_get_raw_public_key(key_.get(), bytes.data(), &size);
    return std::string(R"("kty":"OKP","crv":")") + (type_ == "ED448" ? "Ed448" : "Ed25519") +
           R"(","x":")" + encode_base64url({reinterpret_cast<char*>(bytes.data()), size}) + '"';
  }
  /// `more`: further members, each with a comma at the end.
  std::string jwk(const std::string& more = "") const { return '{' + more + jwk_members() + '}'; }

  std::string sign(std::string_view text, JwsAlgorithm algorithm) const {
    const std::string name(name_of(algorithm));
    const std::string hash = "SHA" + (name.size() == 5 && name != "EdDSA" ? name.substr(2) : "");
    const std::shared_ptr<EVP_MD_CTX> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    EVP_PKEY_CTX* options = nullptr;
    EVP_DigestSignInit_ex(context.get(), &options, name == "EdDSA" ? nullptr : hash.c_str(),
                          nullptr, nullptr, key_.get(), nullptr);
    if (name.starts_with("PS")) {
      EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING);
      EVP_PKEY_CTX_set_rsa_pss_saltlen(options, RSA_PSS_SALTLEN_DIGEST);
    }
    std::string signature(1'024, '\0');
    auto* const out = reinterpret_cast<unsigned char*>(signature.data());
    std::size_t size = signature.size();
    if (EVP_DigestSign(context.get(), out, &size,
                       reinterpret_cast<const unsigned char*>(text.data()), text.size()) != 1)
      throw std::runtime_error("cannot sign");
    signature.resize(size);
    return coordinate() > 0 ? raw(signature) : signature;
  }

  /// A token. `header`: further members, each with a comma at the end.
  std::string token(JwsAlgorithm algorithm, std::string_view payload,
                    const std::string& header = "") const {
    const std::string text = unsigned_token(
        '{' + header + R"("alg":")" + std::string(name_of(algorithm)) + "\"}", payload);
    return text + '.' + encode_base64url(sign(text, algorithm));
  }

 private:
  std::size_t coordinate() const {
    return type_ == "P-256" ? 32 : type_ == "P-384" ? 48 : type_ == "P-521" ? 66 : 0;
  }
  std::string number(const char* name, std::size_t size) const {
    BIGNUM* value = nullptr;
    EVP_PKEY_get_bn_param(key_.get(), name, &value);
    const std::shared_ptr<BIGNUM> owner(value, BN_free);
    return encode_base64url(bytes_of_number(value, size));
  }
  /// R || S.
  std::string raw(const std::string& asn1) const {
    const auto* at = reinterpret_cast<const unsigned char*>(asn1.data());
    const std::shared_ptr<ECDSA_SIG> signature(
        d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(asn1.size())), ECDSA_SIG_free);
    return bytes_of_number(ECDSA_SIG_get0_r(signature.get()), coordinate()) +
           bytes_of_number(ECDSA_SIG_get0_s(signature.get()), coordinate());
  }

  std::string type_;
  std::shared_ptr<EVP_PKEY> key_;
};

}  // namespace weir::jwt
