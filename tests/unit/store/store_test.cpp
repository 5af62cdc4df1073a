#include "store/store.hpp"

#include "catch.hpp"

namespace weir::store {

TEST_CASE("A set of claims has the first of them, and no other") {
  CHECK(first_claims(0) == 0);
  CHECK(first_claims(3) == 0b111);
  CHECK(first_claims(claims_per_request) == 0xFFFF);
  for (std::size_t claim = 0; claim < claims_per_request; ++claim) {
    CAPTURE(claim);
    CHECK(contains(first_claims(3), claim) == (claim < 3));
    CHECK(contains(first_claims(claims_per_request), claim));
  }
}

TEST_CASE("Deciders have the names of the access log") {
  CHECK(to_string(Decider::memory) == "memory");
  CHECK(to_string(Decider::redis) == "redis");
  CHECK(to_string(Decider::local) == "local");
}

}  // namespace weir::store
