#include "jwt/signature.hpp"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "jwt/base64url.hpp"
#include "unit/jwt/issuer.hpp"

namespace weir::jwt {
namespace {

Key key_of(const std::string& jwk) {
  const auto json = json::read(jwk, {});
  REQUIRE(json.has_value());
  const auto key =
      read_key(*json, jwk.find("\"oct\"") == std::string::npos ? KeyOrigin::published
                                                               : KeyOrigin::configured);
  INFO((key ? "" : key.error().message));
  REQUIRE(key.has_value());
  return *key;
}

struct Row {
  const char* type;
  JwsAlgorithm algorithm;
};
const std::vector<Row> rows{
    {"oct", JwsAlgorithm::hs256},     {"oct", JwsAlgorithm::hs384},
    {"oct", JwsAlgorithm::hs512},     {"RSA", JwsAlgorithm::rs256},
    {"RSA", JwsAlgorithm::rs384},     {"RSA", JwsAlgorithm::rs512},
    {"RSA", JwsAlgorithm::ps256},     {"RSA", JwsAlgorithm::ps384},
    {"RSA", JwsAlgorithm::ps512},     {"P-256", JwsAlgorithm::es256},
    {"P-384", JwsAlgorithm::es384},   {"P-521", JwsAlgorithm::es512},
    {"ED25519", JwsAlgorithm::eddsa}, {"ED448", JwsAlgorithm::eddsa},
};

TEST_CASE("a signature of each algorithm is verified, and no changed one") {
  for (const Row& row : rows) {
    INFO(row.type << ' ' << name_of(row.algorithm));
    const Issuer issuer(row.type);
    const Key key = key_of(issuer.jwk());
    const std::string text = "eyJhIjoxfQ.eyJiIjoyfQ";
    const std::string signature = issuer.sign(text, row.algorithm);
    REQUIRE(is_signed(text, signature, key, row.algorithm));
    CHECK_FALSE(is_signed(text + "A", signature, key, row.algorithm));
    CHECK_FALSE(is_signed("", signature, key, row.algorithm));
    CHECK_FALSE(is_signed(text, "", key, row.algorithm));
    CHECK_FALSE(is_signed(text, signature.substr(1), key, row.algorithm));
    CHECK_FALSE(is_signed(text, signature.substr(0, signature.size() - 1), key, row.algorithm));
    CHECK_FALSE(is_signed(text, signature + '\0', key, row.algorithm));
    CHECK_FALSE(is_signed(text, '\0' + signature, key, row.algorithm));
    for (std::size_t i = 0; i < signature.size(); i += 7) {
      std::string changed = signature;
      changed[i] = static_cast<char>(changed[i] ^ 0x10);
      CHECK_FALSE(is_signed(text, changed, key, row.algorithm));
    }
    CHECK_FALSE(is_signed(text, signature, key_of(Issuer("P-256").jwk()), row.algorithm));
    for (const Row& other : rows) {
      if (other.algorithm != row.algorithm)
        CHECK_FALSE(is_signed(text, signature, key, other.algorithm));
    }
  }
}

TEST_CASE("a signature of ECDSA is R and S, not ASN.1, and neither is 0 or the order") {
  const Issuer issuer("P-256");
  const Key key = key_of(issuer.jwk());
  const std::string zero(32, '\0');
  const std::string one = std::string(31, '\0') + '\1';
  const std::string order =
      *decode_base64url("_____wAAAAD__________7zm-q2nF56E87nKwvxjJVE");  // SEC 2 section 2.4.2
  for (const std::string& r : {zero, one, order}) {
    for (const std::string& s : {zero, one, order})
      CHECK_FALSE(is_signed("text", r + s, key, JwsAlgorithm::es256));
  }
  // 30 06 02 01 01 02 01 01
  CHECK_FALSE(
      is_signed("text", std::string("0\x06\x02\x01\x01\x02\x01\x01"), key, JwsAlgorithm::es256));
  const std::string good = issuer.sign("text", JwsAlgorithm::es256);
  CHECK_FALSE(is_signed("text", zero + good, key, JwsAlgorithm::es256));
  CHECK_FALSE(is_signed("text", '\0' + good.substr(0, 32) + '\0' + good.substr(32), key,
                        JwsAlgorithm::es256));
}

TEST_CASE("the examples of RFC 8037 and RFC 7515 are verified") {
  // RFC 8037 appendix A.4.
  const Key edwards =
      key_of(R"({"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})");
  const std::string text = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
  const auto signature = decode_base64url(
      "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg");
  REQUIRE(signature);
  CHECK(is_signed(text, *signature, edwards, JwsAlgorithm::eddsa));
  CHECK_FALSE(is_signed(text + 'x', *signature, edwards, JwsAlgorithm::eddsa));
  // RFC 7515 appendix A.1.
  const Key secret = key_of(
      R"({"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"})");
  CHECK(is_signed(
      "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9."
      "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290"
      "Ijp0cnVlfQ",
      *decode_base64url("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"), secret,
      JwsAlgorithm::hs256));
}

TEST_CASE("a key verifies only the algorithm that it is for") {
  const Issuer issuer("RSA");
  const Key key = key_of(issuer.jwk(R"("alg":"PS256",)"));
  CHECK(is_signed("a", issuer.sign("a", JwsAlgorithm::ps256), key, JwsAlgorithm::ps256));
  CHECK_FALSE(is_signed("a", issuer.sign("a", JwsAlgorithm::rs256), key, JwsAlgorithm::rs256));
  CHECK_FALSE(is_signed("a", issuer.sign("a", JwsAlgorithm::ps512), key, JwsAlgorithm::ps512));
}

TEST_CASE("several threads verify with one key") {
  for (const Row& row : rows) {
    const Issuer issuer(row.type);
    const Key key = key_of(issuer.jwk());
    const std::string signature = issuer.sign("text", row.algorithm);
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int j = 0; j < 5; ++j)
          right += is_signed("text", signature, key, row.algorithm) &&
                   !is_signed("other", signature, key, row.algorithm);
      });
    }
    for (auto& thread : threads)
      thread.join();
    CHECK(right == 20);
  }
}

}  // namespace
}  // namespace weir::jwt
