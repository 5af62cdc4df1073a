#include "jwt/key_material.hpp"

#include <memory>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <string>

#include "catch.hpp"
#include "unit/jwt/issuer.hpp"

namespace weir::jwt {
namespace {

using Word = BN_ULONG;
using Number = std::unique_ptr<BIGNUM, decltype(&BN_free)>;

Number new_number() {
  return {BN_new(), BN_free};
}

std::string big_endian(const BIGNUM* number) {
  return bytes_of_number(number, static_cast<std::size_t>(BN_num_bytes(number)));
}

std::string from_hex(const char* hex) {
  BIGNUM* number = nullptr;
  REQUIRE(BN_hex2bn(&number, hex) > 0);
  const Number owner(number, BN_free);
  return big_endian(number);
}

/// Returns a number of `bits` bits with the remainder `remainder` modulo every prime up to 167.
std::string modulus_with(int bits, Word remainder) {
  const Number number = new_number();
  BN_set_word(number.get(), 2);
  for (Word candidate = 3; candidate <= 167; candidate += 2) {
    bool is_prime = true;
    for (Word divisor = 3; divisor * divisor <= candidate; divisor += 2)
      is_prime = is_prime && candidate % divisor != 0;
    if (is_prime) BN_mul_word(number.get(), candidate);
  }
  BN_lshift(number.get(), number.get(), bits - BN_num_bits(number.get()));
  BN_add_word(number.get(), remainder);
  return big_endian(number.get());
}

std::string rsa_problem(const std::string& modulus, const std::string& exponent) {
  const auto key = make_rsa_key(modulus, exponent);
  return key ? "" : key.error().message;
}

const std::string f4("\1\0\1", 3);  // 65537
constexpr Word harmless = 173;      // a prime, and no power of 65537 modulo 11
constexpr const char* roca = "its modulus was made by the library of CVE-2017-15361 (ROCA)";
constexpr const char* factor = "its modulus has a small factor";

TEST_CASE("an RSA key has 2048 to 8192 bits") {
  for (const int bits : {2048, 2049, 4096, 8192})
    CHECK(rsa_problem(modulus_with(bits, harmless), f4).empty());
  CHECK(rsa_problem(modulus_with(2047, harmless), f4) ==
        "RSA with 2047 bits is not between 2048 and 8192");
  CHECK(rsa_problem(modulus_with(8193, harmless), f4) ==
        "RSA with 8193 bits is not between 2048 and 8192");
  // Leading zeros do not count, up to the size that is read.
  CHECK(rsa_problem(std::string(10, '\0') + modulus_with(2048, harmless), f4).empty());
  CHECK(rsa_problem(std::string(2'048, '\0') + modulus_with(2048, harmless), f4) ==
        "its modulus or exponent is too large");
}

TEST_CASE("an RSA key with a small factor, or of the defective library, is rejected") {
  for (const Word remainder : {3U, 5U, 11U, 149U, 167U})
    CHECK(rsa_problem(modulus_with(2048, remainder), f4) == factor);
  CHECK(rsa_problem(modulus_with(2048, 2), f4) == "its modulus is even");
  for (const Word power : {Word{1}, Word{65537}, Word{65537} * 65537})
    CHECK(rsa_problem(modulus_with(2048, power), f4) == roca);
  CHECK(rsa_problem(modulus_with(2048, 65537 + 2), f4) != roca);
}

TEST_CASE("an RSA exponent is odd, at least 3, and has up to 64 bits") {
  const std::string modulus = modulus_with(2048, harmless);
  for (const std::string& exponent : {std::string("\3"), f4, std::string(8, '\xff')})
    CHECK(rsa_problem(modulus, exponent).empty());
  for (const std::string& exponent : {std::string(1, '\0'), std::string("\1"), std::string("\2")})
    CHECK(rsa_problem(modulus, exponent) == "its exponent is even or less than 3");
  CHECK(rsa_problem(modulus, '\1' + std::string(7, '\0') + '\1') ==
        "its exponent has more than 64 bits");
}

TEST_CASE("the point of a key is on its curve, with coordinates of the size of its field") {
  // The generator of P-256 (SEC 2 section 2.4.2).
  const std::string x =
      from_hex("6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296");
  std::string y = from_hex("4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5");
  const auto key = make_ec_key(KeyType::p256, x, y);
  REQUIRE(key.has_value());
  CHECK(EVP_PKEY_get_bits(key->get()) == 256);
  CHECK(make_ec_key(KeyType::p384, x, y).error().message == "its coordinates do not have 48 bytes");
  CHECK(make_ec_key(KeyType::p256, '\0' + x, y).error().message ==
        "its coordinates do not have 32 bytes");
  CHECK(make_ec_key(KeyType::p256, x, y.substr(1)).error().message ==
        "its coordinates do not have 32 bytes");
  y.back() = static_cast<char>(y.back() ^ 1);
  CHECK(make_ec_key(KeyType::p256, x, y).error().message == "its point is not on the curve");
}

TEST_CASE("the size of a coordinate is that of the field, in bytes") {
  CHECK(coordinate_size(KeyType::p256) == 32);
  CHECK(coordinate_size(KeyType::p384) == 48);
  CHECK(coordinate_size(KeyType::p521) == 66);
  for (const KeyType other : {KeyType::rsa, KeyType::ed25519, KeyType::ed448, KeyType::secret})
    CHECK(coordinate_size(other) == 0);
}

TEST_CASE("a key of an Edwards curve has the size of the curve") {
  CHECK(make_edwards_key(KeyType::ed25519, std::string(32, '\1')).has_value());
  CHECK(make_edwards_key(KeyType::ed448, std::string(57, '\1')).has_value());
  for (const std::size_t size : {0, 31, 33, 57})
    CHECK(make_edwards_key(KeyType::ed25519, std::string(size, '\1')).error().message ==
          "its public key does not have the size of the curve");
  CHECK_FALSE(make_edwards_key(KeyType::ed448, std::string(32, '\1')).has_value());
}

TEST_CASE("a secret is not empty") {
  CHECK(make_secret_key("").error().message == "it is empty");
  CHECK(make_secret_key("s").has_value());
  CHECK(make_secret_key(std::string(1'000, '\0')).has_value());
}

}  // namespace
}  // namespace weir::jwt
