#include "upstream/availability.hpp"

#include "catch.hpp"

namespace weir::upstream {
namespace {

void eject(Availability& server, std::uint64_t tick) {
  for (int i = 1; i < Ejection::ejecting_failures; ++i)
    REQUIRE_FALSE(server.failed(tick));
  REQUIRE(server.failed(tick));
}

TEST_CASE("a new server is in use, and nothing has changed") {
  Availability server;
  CHECK(server.is_up());
  CHECK(server.is_in_use());
  CHECK(server.was_in_use());
  CHECK_FALSE(server.has_changed());
}

TEST_CASE("an ejected server is up but not in use, also on trial") {
  Availability server;
  eject(server, 100);
  CHECK(server.is_up());
  CHECK_FALSE(server.is_in_use());
  CHECK(server.is_out(100));
  CHECK_FALSE(server.is_out(100 + Ejection::shortest_ticks));
  CHECK_FALSE(server.is_in_use());
  server.answered();
  CHECK(server.is_in_use());
}

TEST_CASE("a failed check marks the server down, a good one ends its ejection") {
  Availability server;
  eject(server, 100);
  CHECK(server.checked(false));
  CHECK_FALSE(server.is_up());
  CHECK_FALSE(server.checked(false));
  CHECK_FALSE(server.checked(true));
  CHECK(server.is_up());
  CHECK_FALSE(server.is_out(100));
  CHECK(server.is_in_use());
}

TEST_CASE("thresholds change what is needed, not what was found") {
  Availability server;
  REQUIRE_FALSE(server.checked(true));
  server.set_thresholds(1, 2);
  CHECK_FALSE(server.checked(false));
  CHECK(server.is_up());
  CHECK(server.checked(false));
  CHECK_FALSE(server.is_up());
}

TEST_CASE("without checks the server is up again") {
  Availability server;
  REQUIRE(server.checked(false));
  server.forget_checks();
  CHECK(server.is_up());
}

TEST_CASE("each change is reported once") {
  Availability server;
  REQUIRE(server.checked(false));
  CHECK(server.was_in_use());
  CHECK(server.has_changed());
  CHECK_FALSE(server.was_in_use());
  CHECK_FALSE(server.has_changed());
  REQUIRE_FALSE(server.checked(true));
  CHECK(server.has_changed());
  CHECK(server.was_in_use());
  CHECK_FALSE(server.has_changed());
}

TEST_CASE("a change that is undone before it is reported is none") {
  Availability server;
  REQUIRE(server.checked(false));
  REQUIRE_FALSE(server.checked(true));
  CHECK_FALSE(server.has_changed());
}

}  // namespace
}  // namespace weir::upstream
