#include "identity/token_provider.hpp"

#include <iterator>

#include "catch.hpp"

namespace weir::identity {

TEST_CASE("providers are equal if they have the same settings") {
  TokenProvider one;
  one.name = "idp";
  one.place = FromHeader{"authorization"};
  one.rules.issuer = "https://idp";
  one.rules.claims = {"sub"};
  one.shown_claims = {"sub"};
  one.keys_from.file = "keys.json";
  CHECK(one == one);

  void (*const settings[])(TokenProvider&) = {
      [](TokenProvider& other) { other.name = "another"; },
      [](TokenProvider& other) { other.place = FromHeader{"x-token"}; },
      [](TokenProvider& other) { other.rules.issuer = "https://another"; },
      [](TokenProvider& other) { other.rules.max_size = 100; },
      [](TokenProvider& other) { other.rejects_invalid = false; },
      [](TokenProvider& other) { other.keys_from.file = "others.json"; },
  };
  for (std::size_t i = 0; i < std::size(settings); ++i) {
    CAPTURE(i);
    TokenProvider other = one;
    settings[i](other);
    CHECK_FALSE(one == other);
  }

  // The claims follow from the identities, and the keys are loaded again.
  TokenProvider other = one;
  other.rules.claims = {"sub", "org"};
  other.shown_claims = {"sub", "org"};
  other.state = std::make_shared<ProviderState>();
  CHECK(one == other);
}

}  // namespace weir::identity
