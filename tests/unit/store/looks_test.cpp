#include "store/looks.hpp"

#include <array>

#include "catch.hpp"

namespace weir::store {

TEST_CASE("Looks are the same claims with cost 0 and without overdraft") {
  const rules::Policy policy;
  const std::array<std::string_view, 1> attributes{"curl"};
  std::array<Claim, 2> claims;
  claims[0].policy = &policy;
  claims[0].policy_id = 3;
  claims[0].demand = {.cost = 5, .overdraft = true};
  claims[1].policy = &policy;
  claims[1].policy_id = 4;
  claims[1].shadow = true;
  claims[1].attributes = attributes;
  const Looks looks = looks_of(claims);
  REQUIRE(looks.size() == 2);
  for (std::size_t i = 0; i < looks.size(); ++i) {
    CHECK(looks[i].demand.cost == 0);
    CHECK_FALSE(looks[i].demand.overdraft);
    CHECK(looks[i].policy == &policy);
    CHECK(looks[i].policy_id == claims[i].policy_id);
    CHECK(looks[i].shadow == claims[i].shadow);
    CHECK(looks[i].attributes.size() == claims[i].attributes.size());
  }
  CHECK(looks_of({}).empty());
}

}  // namespace weir::store
