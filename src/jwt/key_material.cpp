#include "jwt/key_material.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "jwt/openssl.hpp"

namespace weir::jwt {
namespace {

constexpr std::size_t largest_number = 2'048;  ///< bytes of a modulus or an exponent that are read
constexpr int largest_exponent_bits = 64;      ///< OpenSSL's limit for large moduli

/// The primes by which moduli of RSA keys are divided.
constexpr std::array<BN_ULONG, 38> small_primes{
    3,  5,  7,  11, 13, 17,  19,  23,  29,  31,  37,  41,  43,  47,  53,  59,  61,  67,  71,
    73, 79, 83, 89, 97, 101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167};

KeyMaterial owned(EVP_PKEY* key) {
  return {key, EVP_PKEY_free};
}

/// Whether some power of 65537 has this remainder.
bool is_power_of_65537(BN_ULONG remainder, BN_ULONG prime) {
  BN_ULONG power = 1;
  do {
    if (power == remainder) return true;
    power = power * 65537 % prime;
  } while (power != 1);
  return false;
}

/// Returns why the modulus is weak, or an empty text. "The Return of Coppersmith's Attack" (CCS
/// 2017) section 5: moduli of the defective library are powers of 65537 modulo all small primes,
/// one of 2^27 others is.
std::string weakness_of(const BIGNUM* modulus) {
  bool has_roca_pattern = true;
  for (const BN_ULONG prime : small_primes) {
    const BN_ULONG remainder = BN_mod_word(modulus, prime);
    if (remainder == 0) return "its modulus has a small factor";
    has_roca_pattern = has_roca_pattern && is_power_of_65537(remainder, prime);
  }
  return has_roca_pattern ? "its modulus was made by the library of CVE-2017-15361 (ROCA)" : "";
}

std::string problem_of_rsa(const BIGNUM* modulus, const BIGNUM* exponent) {
  const int bits = BN_num_bits(modulus);
  if (bits < smallest_rsa_bits || bits > largest_rsa_bits)
    return "RSA with " + std::to_string(bits) + " bits is not between " +
           std::to_string(smallest_rsa_bits) + " and " + std::to_string(largest_rsa_bits);
  if (!BN_is_odd(modulus)) return "its modulus is even";
  if (!BN_is_odd(exponent) || BN_is_one(exponent)) return "its exponent is even or less than 3";
  if (BN_num_bits(exponent) > largest_exponent_bits)
    return "its exponent has more than " + std::to_string(largest_exponent_bits) + " bits";
  return weakness_of(modulus);
}

/// Returns nullptr if OpenSSL rejects the parameters.
KeyMaterial make_key(const char* type, OSSL_PARAM_BLD* builder) {
  const ParametersOwner parameters(OSSL_PARAM_BLD_to_param(builder));
  const KeyContextOwner context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1)
    return nullptr;
  return owned(key);
}

const char* curve_name(KeyType type) {
  switch (type) {
    case KeyType::p256:
      return "P-256";
    case KeyType::p384:
      return "P-384";
    default:
      return "P-521";
  }
}

}  // namespace

std::size_t coordinate_size(KeyType type) {
  switch (type) {
    case KeyType::p256:
      return 32;
    case KeyType::p384:
      return 48;
    case KeyType::p521:
      return 66;
    default:
      return 0;
  }
}

Result<KeyMaterial> make_rsa_key(std::string_view modulus, std::string_view exponent) {
  if (std::max(modulus.size(), exponent.size()) > largest_number)
    return Problem{"its modulus or exponent is too large"};
  const ErrorScope errors;
  const BignumOwner n = bignum_of(modulus);
  const BignumOwner e = bignum_of(exponent);
  const ParameterBuilderOwner builder(OSSL_PARAM_BLD_new());
  if (!n || !e || !builder) return Problem{"OpenSSL has no memory for it"};
  if (std::string problem = problem_of_rsa(n.get(), e.get()); !problem.empty())
    return Problem{std::move(problem)};
  KeyMaterial key;
  if (OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) == 1 &&
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) == 1)
    key = make_key("RSA", builder.get());
  if (!key) return Problem{"OpenSSL rejects it"};
  return key;
}

Result<KeyMaterial> make_ec_key(KeyType type, std::string_view x, std::string_view y) {
  const std::size_t size = coordinate_size(type);
  if (x.size() != size || y.size() != size)
    return Problem{"its coordinates do not have " + std::to_string(size) + " bytes"};
  const ErrorScope errors;
  std::string point = "\x04";  // uncompressed
  point.append(x).append(y);
  const ParameterBuilderOwner builder(OSSL_PARAM_BLD_new());
  KeyMaterial key;
  if (builder &&
      OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, curve_name(type),
                                      0) == 1 &&
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                       point.size()) == 1)
    key = make_key("EC", builder.get());
  if (!key) return Problem{"its point is not on the curve"};
  return key;
}

Result<KeyMaterial> make_edwards_key(KeyType type, std::string_view x) {
  const ErrorScope errors;
  KeyMaterial key = owned(EVP_PKEY_new_raw_public_key_ex(
      nullptr, type == KeyType::ed25519 ? "ED25519" : "ED448", nullptr, bytes_of(x), x.size()));
  if (!key) return Problem{"its public key does not have the size of the curve"};
  return key;
}

Result<KeyMaterial> make_secret_key(std::string_view secret) {
  if (secret.empty()) return Problem{"it is empty"};
  const ErrorScope errors;
  KeyMaterial key = owned(
      EVP_PKEY_new_raw_private_key_ex(nullptr, "HMAC", nullptr, bytes_of(secret), secret.size()));
  if (!key) return Problem{"OpenSSL rejects it"};
  return key;
}

}  // namespace weir::jwt
