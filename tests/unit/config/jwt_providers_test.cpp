// `jwt_providers`, and the identities and attributes that name them.
#include <string>

#include "catch.hpp"
#include "unit/config/files.hpp"
#include "unit/jwt/issuer.hpp"

namespace weir::config {
namespace {

const std::string secret = "secret: 0123456789abcdef0123456789abcdef";

const std::string with_file =
    "jwt_providers: {idp: {algorithms: [ES256], jwks: {file: keys}}}\n" + test::route_tail;

}  // namespace

TEST_CASE("a provider has defaults") {
  const auto config = test::must_load("jwt_providers: {idp: {algorithms: [HS256], " + secret +
                                      "}}\n" + test::route_tail);
  const identity::TokenProvider& provider = config->limiter.token_providers.at(0);
  CHECK(provider.name == "idp");
  CHECK(std::get<identity::FromHeader>(provider.place).name == "authorization");
  CHECK(provider.rules.algorithms == jwt::AlgorithmSet{jwt::JwsAlgorithm::hs256});
  CHECK_FALSE(provider.rules.issuer);
  CHECK(provider.rules.audiences.empty());
  CHECK_FALSE(provider.rules.type);
  CHECK(provider.rules.leeway == std::chrono::seconds(30));
  CHECK(provider.rules.is_expiry_required);
  CHECK_FALSE(provider.rules.max_age);
  CHECK(provider.rules.max_size == 8192);
  CHECK(provider.rejects_invalid);
  CHECK(provider.state->keys.edition().keys->size() == 1);
}

TEST_CASE("every key of a provider is read") {
  const auto config = test::must_load(
      "jwt_providers: {idp: {algorithms: [HS256, HS384], cookie: sid, "
      "secret: 0123456789abcdef0123456789abcdef0123456789abcdef, "
      "issuer: i, audience: [a, b], type: at+jwt, leeway: 5m, "
      "require_exp: false, max_age: 1h, max_size: 1KiB, "
      "on_invalid: absent}}\n" +
      test::route_tail);
  const identity::TokenProvider& provider = config->limiter.token_providers.at(0);
  CHECK(std::get<identity::FromCookie>(provider.place).name == "sid");
  CHECK(provider.rules.algorithms ==
        jwt::AlgorithmSet{jwt::JwsAlgorithm::hs256, jwt::JwsAlgorithm::hs384});
  CHECK(provider.rules.issuer == "i");
  CHECK(provider.rules.audiences == std::vector<std::string>{"a", "b"});
  CHECK(provider.rules.type == "at+jwt");
  CHECK(provider.rules.leeway == std::chrono::minutes(5));
  CHECK_FALSE(provider.rules.is_expiry_required);
  CHECK(provider.rules.max_age == std::chrono::hours(1));
  CHECK(provider.rules.max_size == 1024);
  CHECK_FALSE(provider.rejects_invalid);
}

TEST_CASE("identities and attributes share the claims of a provider") {
  const auto config = test::must_load("jwt_providers: {other: {algorithms: [HS256], " + secret +
                                      "}, idp: {algorithms: [HS256], " + secret + R"(}}
identities:
  a: {jwt: {provider: idp, claim: sub}}
  b: {any_of: [{header: x}, {jwt: {provider: idp, claim: realm.tenant}}]}
  c: {jwt: {provider: other, claim: sub}}
policies: {p: {algorithm: attributed_window, rate: 1/1s, attributes: ["claim:idp:sub", "claim:idp:https://a.b/c"]}}
routes: [{respond: {}}]
)");
  CHECK(config->limiter.token_providers[1].rules.claims ==
        std::vector<std::string>{"sub", "realm.tenant", "https://a.b/c"});
  CHECK(config->limiter.token_providers[0].rules.claims == std::vector<std::string>{"sub"});
  const auto claim = [](const identity::Source& source) {
    return std::get<identity::FromClaim>(source.from);
  };
  CHECK(claim(config->limiter.identities[1].source).provider_index == 1);
  CHECK(claim(config->limiter.identities[1].source).claim_index == 0);
  CHECK(claim(std::get<identity::AnyOf>(config->limiter.identities[2].source.from).sources[1])
            .claim_index == 1);
  CHECK(claim(config->limiter.identities[3].source).provider_index == 0);
  CHECK(claim(config->limiter.policies[0].attributes[0].source).claim_index == 0);
  CHECK(claim(config->limiter.policies[0].attributes[1].source).claim == "https://a.b/c");
}

TEST_CASE("keys come from a file; those that cannot be used are warnings") {
  const test::Files directory;
  const jwt::Issuer issuer("P-256");
  directory.write("keys", R"({"keys":[)" + issuer.jwk(R"("kid":"a",)") +
                              R"(,{"kty":"EC","crv":"P-256","kid":"b"}]})");
  const auto config = test::must_load(with_file, directory.environment());
  CHECK(config->limiter.token_providers[0].state->keys.edition().keys->size() == 1);
  REQUIRE(config->key_files.size() == 1);
  CHECK(config->key_files[0].provider == "idp");
  CHECK(config->key_files[0].state == config->limiter.token_providers[0].state);
  REQUIRE(!config->presentation.warnings.empty());
  const bool is_reported =
      std::ranges::any_of(config->presentation.warnings, [](const Diagnostic& warning) {
        return warning.to_string().find("(kid \"b\") is not used") != std::string::npos;
      });
  CHECK(is_reported);
}

TEST_CASE("a file without a usable key is refused") {
  const test::Files directory;
  const auto [content, problem] = GENERATE(table<std::string, std::string>({
      {"", "it is not JSON"},
      {"{}", "keys"},
      {R"({"keys":[]})", "it has no key that can verify a signature"},
      {R"({"keys":[{"kty":"oct","k":"AAAA"}]})", "which must not be published"},
  }));
  directory.write("keys", content);
  const std::string found = test::problems_of(with_file, directory.environment());
  CAPTURE(found);
  CHECK(found.find("jwt_providers.idp.jwks.file: file \"") != std::string::npos);
  CHECK(found.find(problem) != std::string::npos);
}

TEST_CASE("a provider that no route uses is a warning") {
  const auto config = test::must_load(
      "jwt_providers: {idp: {algorithms: [HS256], " + secret +
      "}}\nidentities: {u: {jwt: {provider: idp, claim: sub}}}\npolicies: {p: {rate: 1/1s}}\n"
      "routes: [{respond: {}, limits: [{policy: p, key: u}]}]");
  CHECK(config->presentation.warnings.empty());
  const auto unused = test::must_load("jwt_providers: {idp: {algorithms: [HS256], " + secret +
                                      "}}\n" + test::route_tail);
  REQUIRE(unused->presentation.warnings.size() == 1);
  CHECK(unused->presentation.warnings[0].to_string().find("jwt_providers.idp: no route uses it") !=
        std::string::npos);
}

}  // namespace weir::config
