// The code that every request runs allocates nothing.
#include <string>

#include "catch.hpp"
#include "identity/identity.hpp"
#include "identity/token_readings.hpp"
#include "unit/http/allocations.hpp"
#include "unit/http/request_of.hpp"
#include "unit/jwt/issuer.hpp"

namespace weir::identity {
namespace {

TEST_CASE("resolving identities of the usual size allocates nothing") {
  http::RequestOf request{{{"X-Forwarded-For", "203.0.113.7, 10.0.0.2"},
                           {"Forwarded", "for=\"[2001:db8:cafe::17]:4711\";proto=https"},
                           {"X-Api-Key", "a-key-that-is-longer-than-any-short-string"},
                           {"Cookie", "theme=dark; sid=\"0123456789abcdef0123456789abcdef\""}}};
  request.view.query = "a=b&key=%61-key-that-is-longer-than-any-short-string";
  request.view.path = "/users/7";
  ClientAddressOptions options;
  options.trusted_proxies = {IpPrefix::parse("10.0.0.0/8").value()};
  const IpAddress peer = IpAddress::v4({10, 0, 0, 1});
  const PathParameter parameters[] = {{"id", "7"}};
  const Source all{AllOf{{{FromClientAddress{}}, {FromHeader{"x-api-key"}}, {FromPath{"id"}}}}};
  const Source any{AnyOf{{{FromHeader{"absent"}}, {FromCookie{"sid"}}}}};
  const Source query{FromQuery{"key"}};
  TokenReadings tokens{{}, {}};
  CHECK(allocations_in([&] {
          const IpAddress client = client_address(options, peer, request.view);
          options.header = ClientAddressOptions::Header::forwarded;
          const IpAddress forwarded = client_address(options, peer, request.view);
          const Evidence evidence{request.view, request.view.path, client, parameters, options};
          const auto found = [&](const Source& source) {
            return resolve(source, evidence, {}, tokens).state == Resolution::State::found;
          };
          if (client == peer || forwarded == peer || !found(all) || !found(any) || !found(query))
            std::abort();
        }) == 0);
}

TEST_CASE("a remembered verification and a claim allocate nothing") {
  const jwt::Issuer issuer("oct");
  const auto token = [&](const std::string& subject) {
    return "Bearer " +
           issuer.token(jwt::JwsAlgorithm::hs256, R"({"exp":1000,"sub":")" + subject + "\"}");
  };
  std::vector<TokenProvider> providers(1);
  providers[0].place = FromHeader{"authorization"};
  providers[0].rules.algorithms = {jwt::JwsAlgorithm::hs256};
  providers[0].rules.claims = {"sub"};
  providers[0].state->keys.publish(std::make_shared<const jwt::KeySet>(
      jwt::KeySet::of_secret(Secret(std::string(jwt::Issuer::secret))).value()));
  TokenReadings tokens{providers, {}};
  const std::string good = token("a-subject-longer-than-short-strings");
  const std::string forged = token("alice") + "AAAA";
  const http::RequestOf valid{{{"Authorization", good}}};
  const http::RequestOf invalid{{{"Authorization", forged}}};
  const Source claim{FromClaim{.provider = "idp", .claim = "sub", .token = providers[0].place}};
  const IpAddress client;
  const ClientAddressOptions options;
  const auto state_of = [&](const http::RequestOf& request) {
    tokens.begin({});
    return resolve(claim, {request.view, "/", client, {}, options}, {}, tokens).state;
  };
  const auto both = [&] {
    if (state_of(valid) != Resolution::State::found ||
        state_of(invalid) != Resolution::State::invalid)
      std::abort();
  };
  both();
  CHECK(allocations_in(both) == 0);
}

}  // namespace
}  // namespace weir::identity
