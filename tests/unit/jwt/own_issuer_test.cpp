// Tokens of the issuer for tests of limits: valid for the provider that it joins, and for no other.
#include "jwt/own_issuer.hpp"

#include "catch.hpp"
#include "jwt/verify.hpp"

namespace weir::jwt {
namespace {

const std::string issuer_secret(32, 's');
constexpr auto issuer_claims = R"({"sub":"alice","exp":2000})";
const Instant issued_at = instant_from_us(1'000'000'000);

Provider public_provider() {
  Provider provider;
  provider.algorithms = {JwsAlgorithm::rs256};
  provider.type = "at+jwt";
  provider.claims = {"sub"};
  return provider;
}

}  // namespace

TEST_CASE("a token of the issuer is valid for a provider that it has joined") {
  const OwnIssuer issuer(issuer_secret);
  Provider provider = public_provider();
  const KeySet keys = issuer.join(provider, KeySet());
  CHECK(keys.size() == 1);
  const auto result = verify(issuer.token(issuer_claims, "at+jwt"), provider, keys, issued_at);
  const auto* const verified = std::get_if<Verified>(&result);
  REQUIRE(verified != nullptr);
  CHECK(verified->claims[0].text == "alice");
  CHECK(std::holds_alternative<Rejected>(verify(issuer.token(issuer_claims, "at+jwt"), provider,
                                                keys, instant_from_us(3'000'000'000))));
  CHECK(std::holds_alternative<Rejected>(
      verify(issuer.token(issuer_claims, "JWT"), provider, keys, issued_at)));
}

TEST_CASE("a token of another issuer, and a provider without the key, do not accept it") {
  const OwnIssuer issuer(issuer_secret), other(std::string(32, 'o'));
  Provider provider = public_provider();
  const KeySet keys = issuer.join(provider, KeySet());
  CHECK(std::holds_alternative<NeedsKey>(
      verify(other.token(issuer_claims, "at+jwt"), provider, keys, issued_at)));
  CHECK(std::holds_alternative<Rejected>(
      verify(issuer.token(issuer_claims, "at+jwt"), public_provider(), keys, issued_at)));
}

TEST_CASE("the keys that a provider has stay, with a secret too") {
  const OwnIssuer issuer(issuer_secret), configured(std::string(40, 'c'));
  Provider provider;
  provider.algorithms = {JwsAlgorithm::hs256};
  provider.claims = {"sub"};
  const KeySet keys =
      issuer.join(provider, KeySet::of_secret(Secret(std::string(40, 'c'))).value());
  CHECK(keys.size() == 2);
  for (const OwnIssuer* const each : {&issuer, &configured})
    CHECK(std::holds_alternative<Verified>(
        verify(each->token(issuer_claims, "JWT"), provider, keys, issued_at)));
}

}  // namespace weir::jwt
