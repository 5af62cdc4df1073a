#include "jwt/verify.hpp"

#include <optional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "unit/jwt/issuer.hpp"

namespace weir::jwt {
namespace {

using std::chrono::seconds;

constexpr Instant now{seconds(1'700'000'000)};
const std::string payload =
    R"({"iss":"https://issuer.example","aud":["api"],"sub":"alice","exp":1700000100,)"
    R"("realm":{"roles":["a"],"tier":3}})";

Provider provider_for(AlgorithmSet algorithms) {
  return {.algorithms = algorithms,
          .issuer = "https://issuer.example",
          .audiences = {"api"},
          .type = std::nullopt,
          .leeway = seconds(30),
          .is_expiry_required = true,
          .max_age = std::nullopt,
          .claims = {"sub", "realm.tier", "plan"}};
}

KeySet key_set_of(const std::string& jwk) {
  auto set = read_key_set(R"({"keys":[)" + jwk + "]}", KeyOrigin::published);
  REQUIRE(set.has_value());
  return std::move(set->keys);
}

std::optional<Rejection> rejection_in(const Verification& result) {
  const auto* const rejected = std::get_if<Rejected>(&result);
  return rejected == nullptr ? std::nullopt : std::optional(rejected->reason);
}

/// An issuer whose key has the ID `e`, and what verifies its tokens.
struct Parties {
  Issuer issuer{"P-256"};
  KeySet keys = key_set_of(issuer.jwk(R"("kid":"e",)"));
  Provider provider = provider_for({JwsAlgorithm::es256});

  std::string token(const std::string& header = R"("kid":"e",)") const {
    return issuer.token(JwsAlgorithm::es256, payload, header);
  }
  Verification verify_at(Instant instant) const { return verify(token(), provider, keys, instant); }
};

TEST_CASE("a valid token has the claims that the provider names") {
  const Parties parties;
  const auto result = parties.verify_at(now);
  const auto* const verified = std::get_if<Verified>(&result);
  REQUIRE(verified != nullptr);
  CHECK(verified->claims == std::vector<Claim>{{ClaimKind::text, "alice"},
                                               {ClaimKind::number, "3"},
                                               {ClaimKind::absent, ""}});
  CHECK(verified->valid_until == Instant{seconds(1'700'000'130)});
}

TEST_CASE("a token of each algorithm is verified, and only with its algorithm allowed") {
  struct Row {
    const char* type;
    JwsAlgorithm algorithm;
  };
  for (const Row& row : {Row{"RSA", JwsAlgorithm::rs256}, Row{"RSA", JwsAlgorithm::rs384},
                         Row{"RSA", JwsAlgorithm::rs512}, Row{"RSA", JwsAlgorithm::ps256},
                         Row{"RSA", JwsAlgorithm::ps384}, Row{"RSA", JwsAlgorithm::ps512},
                         Row{"P-256", JwsAlgorithm::es256}, Row{"P-384", JwsAlgorithm::es384},
                         Row{"P-521", JwsAlgorithm::es512}, Row{"ED25519", JwsAlgorithm::eddsa},
                         Row{"ED448", JwsAlgorithm::eddsa}}) {
    INFO(row.type << ' ' << name_of(row.algorithm));
    const Issuer issuer(row.type);
    const KeySet keys = key_set_of(issuer.jwk(R"("kid":"k",)"));
    const std::string token = issuer.token(row.algorithm, payload, R"("kid":"k",)");
    CHECK(
        std::holds_alternative<Verified>(verify(token, provider_for({row.algorithm}), keys, now)));
    CHECK(rejection_in(verify(token, provider_for({JwsAlgorithm::hs256}), keys, now)) ==
          Rejection::disallowed_algorithm);
    CHECK(rejection_in(verify(token, provider_for({}), keys, now)) ==
          Rejection::disallowed_algorithm);
  }
}

TEST_CASE("a token signed with a configured secret is verified, whatever its key ID") {
  const auto keys = KeySet::of_secret(Secret{std::string(Issuer::secret)});
  REQUIRE(keys.has_value());
  const Issuer issuer("oct");
  for (const auto algorithm : {JwsAlgorithm::hs256, JwsAlgorithm::hs384, JwsAlgorithm::hs512}) {
    const Provider provider = provider_for({algorithm});
    for (const char* const header : {"", R"("kid":"any",)"})
      CHECK(std::holds_alternative<Verified>(
          verify(issuer.token(algorithm, payload, header), provider, *keys, now)));
    const auto other = KeySet::of_secret(Secret{std::string(64, 'x')});
    CHECK(rejection_in(verify(issuer.token(algorithm, payload), provider, *other, now)) ==
          Rejection::bad_signature);
  }
}

TEST_CASE("a public key is not used as a secret") {
  const Issuer attacker("oct");
  Parties parties;
  parties.provider.algorithms.add(JwsAlgorithm::hs256);
  CHECK(rejection_in(verify(attacker.token(JwsAlgorithm::hs256, payload, R"("kid":"e",)"),
                            parties.provider, parties.keys, now)) == Rejection::unsuitable_key);
  // Without a key ID, no key fits.
  CHECK(std::holds_alternative<NeedsKey>(
      verify(attacker.token(JwsAlgorithm::hs256, payload), parties.provider, parties.keys, now)));
}

TEST_CASE("a key that is not known is needed only by a token that is valid otherwise") {
  const Parties parties;
  const auto result = verify(parties.token(R"("kid":"new",)"), parties.provider, parties.keys, now);
  const auto* const needed = std::get_if<NeedsKey>(&result);
  REQUIRE(needed != nullptr);
  CHECK(needed->id == "new");

  // Before the first set is read.
  CHECK(std::holds_alternative<NeedsKey>(verify(parties.token(), parties.provider, {}, now)));
  const auto without_id = verify(parties.token(""), parties.provider, {}, now);
  REQUIRE(std::holds_alternative<NeedsKey>(without_id));
  CHECK_FALSE(std::get<NeedsKey>(without_id).id);

  // A token that is invalid anyway needs no key.
  CHECK(rejection_in(verify(parties.token(), parties.provider, {}, now + seconds(130))) ==
        Rejection::expired);
  CHECK(rejection_in(verify(parties.token(R"("kid":"",)"), parties.provider, {}, now)) ==
        Rejection::bad_key_id);
  CHECK(rejection_in(verify(parties.token(R"("crit":["x"],)"), parties.provider, {}, now)) ==
        Rejection::unsupported_extension);
}

TEST_CASE("a removed key stops working with the next set") {
  const Parties parties;
  REQUIRE(std::holds_alternative<Verified>(parties.verify_at(now)));
  const KeySet next = key_set_of(Issuer("P-256").jwk(R"("kid":"f",)"));
  CHECK(std::holds_alternative<NeedsKey>(verify(parties.token(), parties.provider, next, now)));
  const KeySet replaced = key_set_of(Issuer("P-256").jwk(R"("kid":"e",)"));
  CHECK(rejection_in(verify(parties.token(), parties.provider, replaced, now)) ==
        Rejection::bad_signature);
}

TEST_CASE("a token without a key ID is verified with one of the keys that fit") {
  const Parties parties;
  const std::string other = Issuer("P-256").jwk(R"("kid":"o",)");
  const std::string own = parties.issuer.jwk(R"("kid":"p",)");
  CHECK(std::holds_alternative<Verified>(
      verify(parties.token(""), parties.provider, key_set_of(other + ',' + own), now)));
  CHECK(rejection_in(verify(parties.token(""), parties.provider, key_set_of(other), now)) ==
        Rejection::bad_signature);
}

TEST_CASE("a token is valid until exp + leeway") {
  const Parties parties;
  CHECK(std::holds_alternative<Verified>(parties.verify_at(now + seconds(129))));
  CHECK(rejection_in(parties.verify_at(now + seconds(130))) == Rejection::expired);
}

TEST_CASE("the type of a token is compared without case and prefix") {
  Parties parties;
  parties.provider.type = "at+jwt";
  const auto type = [](const std::string& value) { return R"("kid":"e","typ":)" + value + ','; };
  const auto rejection = [&](const std::string& header) {
    return rejection_in(verify(parties.token(header), parties.provider, parties.keys, now));
  };
  for (const char* const value :
       {R"("at+jwt")", R"("AT+JWT")", R"("application/at+jwt")", R"("Application/At+Jwt")"})
    CHECK_FALSE(rejection(type(value)));
  for (const char* const value : {R"("JWT")", R"("")", R"("at+jwt ")", R"("text/at+jwt")",
                                  R"("application/")", R"("application/application/at+jwt")"})
    CHECK(rejection(type(value)) == Rejection::wrong_type);
  CHECK(rejection(R"("kid":"e",)") == Rejection::wrong_type);
  parties.provider.type = "application/at+jwt";
  CHECK_FALSE(rejection(type(R"("at+jwt")")));
}

TEST_CASE("changes of a valid token are detected") {
  const Parties parties;
  const std::string token = parties.token();
  REQUIRE_FALSE(rejection_in(verify(token, parties.provider, parties.keys, now)));
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::string changed = token;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    if (changed == token) continue;
    const auto result = verify(changed, parties.provider, parties.keys, now);
    CHECK_FALSE(std::holds_alternative<Verified>(result));
  }
  for (std::size_t size = 0; size < token.size(); ++size)
    CHECK_FALSE(std::holds_alternative<Verified>(
        verify(token.substr(0, size), parties.provider, parties.keys, now)));
}

TEST_CASE("a key in the token is not used") {
  const Parties parties;
  const Issuer attacker("P-256");
  for (const std::string& header :
       {R"("kid":"e","jwk":)" + attacker.jwk() + ',',
        std::string(R"("kid":"e","jku":"https://evil.example/jwks.json",)"),
        std::string(R"("kid":"e","x5u":"https://evil.example/c.pem","x5c":["AA"],)")})
    CHECK(rejection_in(verify(attacker.token(JwsAlgorithm::es256, payload, header),
                              parties.provider, parties.keys, now)) == Rejection::bad_signature);
}

TEST_CASE("the example of RFC 7515 is valid until its expiry") {
  // Appendix A.1; exp is 2011-03-22T18:43:00Z.
  const std::string token =
      "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9."
      "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVl"
      "fQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
  auto keys = read_key_set(
      R"({"keys":[{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"}]})",
      KeyOrigin::configured);
  REQUIRE(keys.has_value());
  Provider provider{.algorithms = {JwsAlgorithm::hs256},
                    .issuer = "joe",
                    .audiences = {},
                    .type = std::nullopt,
                    .leeway = seconds(0),
                    .max_age = std::nullopt,
                    .claims = {"iss", "http://example.com/is_root"}};
  const Instant exp{seconds(1'300'819'380)};
  const auto result = verify(token, provider, keys->keys, exp - seconds(1));
  REQUIRE(std::holds_alternative<Verified>(result));
  CHECK(std::get<Verified>(result).claims ==
        std::vector<Claim>{{ClaimKind::text, "joe"}, {ClaimKind::boolean, "true"}});
  CHECK(rejection_in(verify(token, provider, keys->keys, exp)) == Rejection::expired);
  provider.leeway = seconds(60);
  CHECK_FALSE(rejection_in(verify(token, provider, keys->keys, exp + seconds(59))));
  CHECK(rejection_in(verify(token, provider, keys->keys, exp + seconds(60))) == Rejection::expired);
}

}  // namespace
}  // namespace weir::jwt
