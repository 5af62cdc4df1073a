#include "redis/override_walk.hpp"

#include "catch.hpp"

using namespace weir;
using weir::redis::OverrideWalk;

namespace {

using Identities = std::vector<Hash128>;

Hash128 who(std::uint64_t number) {
  return {.low = number};
}

}  // namespace

TEST_CASE("A walk goes from cursor 0 to cursor 0") {
  OverrideWalk walk;
  REQUIRE(walk.has_next());
  CHECK(walk.cursor() == "0");
  CHECK(walk.take("17", Identities{who(1), who(2)}) == Identities{who(1), who(2)});
  REQUIRE(walk.has_next());
  CHECK(walk.cursor() == "17");
  CHECK_FALSE(walk.is_complete());
  CHECK(walk.take("5", Identities{}).empty());
  CHECK(walk.take("0", Identities{who(3)}) == Identities{who(3)});
  CHECK_FALSE(walk.has_next());
  CHECK(walk.is_complete());
}

TEST_CASE("An identity that a walk has met is not returned again") {
  OverrideWalk walk;
  CHECK(walk.take("1", Identities{who(1), who(2), who(1)}) == Identities{who(1), who(2)});
  CHECK(walk.take("2", Identities{who(2), who(3)}) == Identities{who(3)});
  CHECK(walk.take("0", Identities{who(3), who(1)}).empty());
}

TEST_CASE("A walk ends at its bounds, and is not complete then") {
  OverrideWalk stopped;
  stopped.take("1", Identities{});
  stopped.stop();
  CHECK_FALSE(stopped.has_next());
  CHECK_FALSE(stopped.is_complete());

  OverrideWalk long_one;
  for (int i = 0; i < OverrideWalk::most_pages; ++i) {
    REQUIRE(long_one.has_next());
    long_one.take("1", Identities{});
  }
  CHECK_FALSE(long_one.has_next());
  CHECK_FALSE(long_one.is_complete());

  OverrideWalk large;
  for (std::uint64_t i = 0; i < OverrideWalk::most_identities; ++i) {
    REQUIRE(large.has_next());
    large.take("1", Identities{who(i)});
  }
  CHECK_FALSE(large.has_next());
  CHECK_FALSE(large.is_complete());
}
