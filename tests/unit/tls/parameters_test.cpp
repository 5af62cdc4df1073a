#include "tls/parameters.hpp"

#include <cstdint>
#include <memory>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/ssl.h>

#include "catch.hpp"
#include "tls/context.hpp"
#include "unit/tls/made_certificate.hpp"

namespace weir::tls {
namespace {

using test::MadeCertificate;

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

/// A certificate with an RSA key of so many bits, whose private key does not exist.
Certificate with_rsa_key(unsigned bits) {
  const std::unique_ptr<BIGNUM, Freed<BN_free>> modulus(BN_new()), exponent(BN_new());
  BN_set_bit(modulus.get(), static_cast<int>(bits) - 1);
  BN_set_bit(modulus.get(), 0);
  BN_set_word(exponent.get(), 65537);
  const std::unique_ptr<OSSL_PARAM_BLD, Freed<OSSL_PARAM_BLD_free>> builder(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get());
  const std::unique_ptr<OSSL_PARAM, Freed<OSSL_PARAM_free>> parameters(
      OSSL_PARAM_BLD_to_param(builder.get()));
  const std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX_free>> making(
      EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr));
  EVP_PKEY* key = nullptr;
  EVP_PKEY_fromdata_init(making.get());
  REQUIRE(EVP_PKEY_fromdata(making.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) == 1);
  Certificate certificate(X509_new(), X509_free);
  REQUIRE(X509_set_pubkey(certificate.get(), key) == 1);
  EVP_PKEY_free(key);
  return certificate;
}

TEST_CASE("every known group and cipher is one that OpenSSL has") {
  for (const std::string_view group : known_groups()) {
    CAPTURE(group);
    CHECK(is_available({.groups = {std::string(group)}}));
    CHECK(why_not_group(group).empty());
  }
  for (const std::string_view cipher : known_ciphers()) {
    CAPTURE(cipher);
    CHECK(is_available({.ciphers = {std::string(cipher)}}));
    CHECK(why_not_cipher(cipher).empty());
  }
  CHECK(is_available({}));
  CHECK_FALSE(is_available({.groups = {"P-1"}}));
  CHECK_FALSE(is_available({.ciphers = {"ECDHE-NONSENSE"}}));
  CHECK_FALSE(is_available({.ciphers = {"TLS_NONSENSE"}}));
}

TEST_CASE("no known group is expensive, and no known cipher weak") {
  for (const std::string_view group : known_groups())
    CHECK(group.find("ffdhe") == std::string_view::npos);
  for (const std::string_view cipher : known_ciphers()) {
    CAPTURE(cipher);
    CHECK((is_tls13_cipher(cipher) || cipher.starts_with("ECDHE-")));
    CHECK((cipher.find("GCM") != std::string_view::npos ||
           cipher.find("POLY1305") != std::string_view::npos));
  }
}

TEST_CASE("why a group is not allowed") {
  struct Row {
    std::string_view name, because, meant;
  };
  const Row rows[] = {
      {"ffdhe2048", "finite-field", ""},
      {"ffdhe8192", "finite-field", ""},
      {"FFDHE4096", "finite-field", ""},
      {"dh_2048_256", "finite-field", ""},
      {"secp256r1", "", "P-256"},
      {"prime256v1", "", "P-256"},
      {"secp384r1", "", "P-384"},
      {"secp521r1", "", "P-521"},
      {"x25519", "", "X25519"},
      {"x448", "", "X448"},
      {"sect571r1", "", ""},
      {"", "", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(why_not_group(row.name).starts_with(row.because));
    CHECK(why_not_group(row.name).empty() == row.because.empty());
    CHECK(group_with_alias(row.name) == row.meant);
  }
}

TEST_CASE("why a cipher is not allowed") {
  struct Row {
    std::string_view name, because;
  };
  const Row rows[] = {
      {"DHE-RSA-AES128-GCM-SHA256", "finite-field Diffie-Hellman"},
      {"EDH-RSA-DES-CBC3-SHA", "finite-field Diffie-Hellman"},
      {"AES128-GCM-SHA256", "only ciphers with ECDHE"},
      {"PSK-AES128-GCM-SHA256", "only ciphers with ECDHE"},
      {"NULL-SHA", "only ciphers with ECDHE"},
      {"ECDHE-RSA-AES128-SHA", "only ciphers with authenticated encryption"},
      {"ECDHE-RSA-AES128-SHA256", "only ciphers with authenticated encryption"},
      {"ECDHE-ECDSA-AES256-SHA384", "only ciphers with authenticated encryption"},
      {"ECDHE-RSA-AES128-GCM-SHA", "only ciphers with authenticated encryption"},
      {"TLS_AES_128_CCM_8_SHA256", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(why_not_cipher(row.name).starts_with(row.because));
    CHECK(why_not_cipher(row.name).empty() == row.because.empty());
  }
}

TEST_CASE("an RSA key of more than 4096 bits is reported") {
  CHECK(key_problem(with_rsa_key(4097)) ==
        "an RSA key of 4097 bits makes handshakes so expensive that a few clients can occupy a "
        "worker; use P-256, or RSA with 2048 bits");
  CHECK(key_problem(with_rsa_key(4096)).empty());
  const MadeCertificate usual("one.test");
  CHECK(key_problem(read_certificates(usual.files().certificate)->front()).empty());
  CHECK((*ServerContext::load({usual.files()}))->warnings().empty());
}

TEST_CASE("no context renegotiates or compresses") {
  const MadeCertificate one("one.test");
  const auto context = ServerContext::load({one.files()}).value();
  const std::uint64_t off = SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION;
  CHECK((SSL_CTX_get_options(context->native()) & off) == off);
}

TEST_CASE("a context that OpenSSL cannot make is a problem") {
  const MadeCertificate one("one.test");
  const auto server = ServerContext::load({one.files()}, {.groups = {"P-1"}});
  REQUIRE_FALSE(server.has_value());
  CHECK(server.error().message.starts_with("OpenSSL: "));
}

}  // namespace
}  // namespace weir::tls
