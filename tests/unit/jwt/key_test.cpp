#include "jwt/key.hpp"

#include <string>

#include "catch.hpp"
#include "unit/jwt/issuer.hpp"

namespace weir::jwt {
namespace {

using enum JwsAlgorithm;

json::Value jwk_of(const std::string& text) {
  INFO(text);
  auto json = json::read(text, {});
  REQUIRE(json.has_value());
  return std::move(*json);
}

std::string secret_jwk(std::size_t bytes, const std::string& more = "") {
  return R"({"kty":"oct",)" + more + R"("k":")" + encode_base64url(std::string(bytes, 's')) + "\"}";
}

std::string key_problem(const std::string& jwk, KeyOrigin origin) {
  const auto key = read_key(jwk_of(jwk), origin);
  return key ? "" : key.error().message;
}

TEST_CASE("a key fits the algorithms of its type and curve") {
  const struct {
    KeyType type;
    AlgorithmSet fitting;
  } rows[] = {
      {KeyType::rsa, {rs256, rs384, rs512, ps256, ps384, ps512}},
      {KeyType::p256, {es256}},
      {KeyType::p384, {es384}},
      {KeyType::p521, {es512}},
      {KeyType::ed25519, {eddsa}},
      {KeyType::ed448, {eddsa}},
      {KeyType::secret, {hs256, hs384, hs512}},
  };
  for (const auto& [type, fitting] : rows) {
    for (int i = 0; i <= static_cast<int>(eddsa); ++i) {
      const auto wanted = static_cast<JwsAlgorithm>(i);
      CAPTURE(static_cast<int>(type), name_of(wanted));
      const Key key{.id = {}, .algorithm = {}, .type = type, .secret_size = 64, .material = {}};
      CHECK(key.fits(wanted) == fitting.contains(wanted));
      Key only_eddsa = key;
      only_eddsa.algorithm = eddsa;
      CHECK(only_eddsa.fits(wanted) == (wanted == eddsa && fitting.contains(eddsa)));
    }
  }
}

TEST_CASE("a secret fits algorithms whose hash is not longer") {
  const struct {
    std::size_t size;
    AlgorithmSet fitting;
  } rows[] = {
      {31, {}},
      {32, {hs256}},
      {47, {hs256}},
      {48, {hs256, hs384}},
      {63, {hs256, hs384}},
      {64, {hs256, hs384, hs512}},
  };
  for (const auto& [size, fitting] : rows) {
    CAPTURE(size);
    const auto key = secret_key(std::string(size, 's'));
    REQUIRE(key.has_value());
    CHECK(key->secret_size == size);
    for (const JwsAlgorithm wanted : {hs256, hs384, hs512})
      CHECK(key->fits(wanted) == fitting.contains(wanted));
  }
  CHECK_FALSE(secret_key("").has_value());
}

TEST_CASE("use and key_ops state whether a key is for verifying") {
  const struct {
    const char* members;
    bool is_for_verifying;
  } rows[] = {
      {R"({})", true},
      {R"({"use":"sig"})", true},
      {R"({"use":"enc"})", false},
      {R"({"use":"SIG"})", false},
      {R"({"use":null})", false},
      {R"({"use":["sig"]})", false},
      {R"({"key_ops":["verify"]})", true},
      {R"({"key_ops":["sign","verify"]})", true},
      {R"({"key_ops":["sign"]})", false},
      {R"({"key_ops":[]})", false},
      {R"({"key_ops":"verify"})", false},
      {R"({"key_ops":[1,{"verify":1}]})", false},
      {R"({"use":"sig","key_ops":["verify"]})", true},
      {R"({"use":"sig","key_ops":["encrypt"]})", false},
      {R"({"use":"enc","key_ops":["verify"]})", false},
  };
  for (const auto& [members, expected] : rows) {
    CAPTURE(members);
    CHECK(is_for_verifying(jwk_of(members)) == expected);
  }
}

TEST_CASE("members of the private part are found, except in a secret") {
  for (const char* const member : {"d", "p", "q", "dp", "dq", "qi", "oth"}) {
    CAPTURE(member);
    CHECK(has_private_members(jwk_of("{\"kty\":\"RSA\",\"" + std::string(member) + "\":\"AA\"}")));
    CHECK(has_private_members(jwk_of("{\"" + std::string(member) + "\":null}")));
  }
  CHECK_FALSE(has_private_members(jwk_of(R"({"kty":"RSA","n":"AA","e":"AQAB"})")));
  CHECK_FALSE(has_private_members(jwk_of(R"({"kty":"oct","k":"AA","d":"AA"})")));
}

TEST_CASE("a published key is public, a configured one is a secret") {
  const std::string ec = Issuer("P-256").jwk(R"("kid":"a","alg":"ES256",)");
  const auto published = read_key(jwk_of(ec), KeyOrigin::published);
  REQUIRE(published.has_value());
  CHECK(published->id == "a");
  CHECK(published->algorithm == es256);
  CHECK(published->type == KeyType::p256);
  CHECK(published->material != nullptr);
  CHECK(key_problem(ec, KeyOrigin::configured) == "it is not a secret (\"kty\" is not \"oct\")");

  const auto configured = read_key(jwk_of(secret_jwk(40)), KeyOrigin::configured);
  REQUIRE(configured.has_value());
  CHECK_FALSE(configured->id.has_value());
  CHECK_FALSE(configured->algorithm.has_value());
  CHECK(configured->type == KeyType::secret);
  CHECK(configured->secret_size == 40);
  CHECK(key_problem(secret_jwk(40), KeyOrigin::published) ==
        "it is a secret (\"kty\" is \"oct\"), which must not be published");
}

TEST_CASE("a secret is at least as long as the hash of its algorithm") {
  CHECK(key_problem(secret_jwk(48, R"("alg":"HS384",)"), KeyOrigin::configured).empty());
  CHECK(key_problem(secret_jwk(47, R"("alg":"HS384",)"), KeyOrigin::configured) ==
        "it has 47 bytes, and HS384 needs at least 48");
  CHECK(key_problem(secret_jwk(64, R"("alg":"RS256",)"), KeyOrigin::configured) ==
        "its \"alg\" does not fit its type or curve");
  CHECK(key_problem(secret_jwk(64, R"("alg":256,)"), KeyOrigin::configured) ==
        "its \"alg\" is not an algorithm for tokens");
  CHECK(key_problem(R"({"kty":"oct"})", KeyOrigin::configured) ==
        "its \"k\" is missing or not base64url");
}

}  // namespace
}  // namespace weir::jwt
