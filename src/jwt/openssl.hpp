// Owners of OpenSSL objects. For the .cpp files of this room only.
#pragma once

#include <memory>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <string_view>

#include "base/freed.hpp"

namespace weir::jwt {

using BignumOwner = std::unique_ptr<BIGNUM, Freed<BN_free>>;
using DigestContextOwner = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;
using EcdsaSignatureOwner = std::unique_ptr<ECDSA_SIG, Freed<ECDSA_SIG_free>>;
using KeyContextOwner = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX_free>>;
using ParameterBuilderOwner = std::unique_ptr<OSSL_PARAM_BLD, Freed<OSSL_PARAM_BLD_free>>;
using ParametersOwner = std::unique_ptr<OSSL_PARAM, Freed<OSSL_PARAM_free>>;

/// Leaves no errors of this room to other users of OpenSSL in this thread.
struct ErrorScope {
  ErrorScope() = default;
  ErrorScope(const ErrorScope&) = delete;
  ErrorScope& operator=(const ErrorScope&) = delete;
  ~ErrorScope() { ERR_clear_error(); }
};

inline const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

/// An unsigned big-endian number.
inline BignumOwner bignum_of(std::string_view bytes) {
  return BignumOwner(BN_bin2bn(bytes_of(bytes), static_cast<int>(bytes.size()), nullptr));
}

}  // namespace weir::jwt
