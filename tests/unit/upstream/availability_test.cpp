#include "upstream/availability.hpp"

#include <string>

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

TEST_CASE("the health of a server follows from its checks") {
  const struct {
    int rise, fall;
    std::string checks;  ///< + good, - failed
    std::string states;  ///< after each: U up, D down
  } cases[] = {
      // The first check decides alone.
      {2, 3, "+", "U"},
      {2, 3, "-", "D"},
      {2, 3, "-+", "DD"},
      {2, 3, "-++", "DDU"},
      // Three failures in a row mark it down; a success in between resets the count.
      {2, 3, "+--", "UUU"},
      {2, 3, "+---", "UUUD"},
      {2, 3, "+--+--+---", "UUUUUUUUUD"},
      // Two successes in a row mark it up again.
      {2, 3, "-+-+-++", "DDDDDDU"},
      {1, 1, "+-+-", "UDUD"},
      {1, 2, "-+--+", "DUUDU"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.rise, one.fall, one.checks);
    Health health(one.rise, one.fall);
    CHECK(health.is_up());
    std::string states;
    for (const char check : one.checks) {
      const bool before = health.is_up();
      const bool changed = health.observe(check == '+');
      CHECK(changed == (before != health.is_up()));
      states += health.is_up() ? 'U' : 'D';
    }
    CHECK(states == one.states);
  }
}

TEST_CASE("failures in a row eject, others do not") {
  Ejection server;
  CHECK_FALSE(server.failed(100));
  CHECK_FALSE(server.failed(100));
  server.succeeded();
  CHECK_FALSE(server.failed(100));
  CHECK_FALSE(server.failed(100));
  CHECK_FALSE(server.is_out(100));
  CHECK(server.failed(100));
  CHECK(server.is_out(100));
  CHECK(server.is_ejected());
}

TEST_CASE("an ejection lasts a second, then twice as long after each failed trial, at most 30 s") {
  Ejection server;
  std::uint64_t tick = 100;
  server.failed(tick);
  server.failed(tick);
  server.failed(tick);
  for (const std::uint64_t seconds : {1, 2, 4, 8, 16, 30, 30}) {
    CAPTURE(seconds);
    const std::uint64_t back_at = tick + seconds * 10;
    CHECK(server.is_out(back_at - 1));
    CHECK_FALSE(server.is_out(back_at));
    CHECK(server.is_ejected());
    tick = back_at;
    server.chosen(tick);
    CHECK(server.failed(tick));
  }
}

TEST_CASE("a trial is one request a second until it is decided") {
  Ejection server;
  for (int i = 0; i < 3; ++i)
    server.failed(100);
  server.chosen(110);
  CHECK(server.is_out(110));
  CHECK(server.is_out(119));
  // The trial is undecided: another one is allowed.
  CHECK_FALSE(server.is_out(120));
  server.chosen(120);
  CHECK(server.is_out(121));
  server.succeeded();
  CHECK_FALSE(server.is_out(121));
  CHECK_FALSE(server.is_ejected());
  // Everything is reset: three failures are needed again, and the time starts at a second again.
  server.failed(121);
  server.failed(121);
  CHECK_FALSE(server.is_out(121));
  server.failed(121);
  CHECK(server.is_out(130));
  CHECK_FALSE(server.is_out(131));
}

TEST_CASE("requests that were chosen before the ejection do not prolong it") {
  Ejection server;
  for (int i = 0; i < 3; ++i)
    server.failed(100);
  for (int i = 0; i < 50; ++i)
    CHECK_FALSE(server.failed(105));
  CHECK_FALSE(server.is_out(110));
}

TEST_CASE("being used although it is out, as when all are, starts no trial") {
  Ejection server;
  for (int i = 0; i < 3; ++i)
    server.failed(100);
  server.chosen(105);
  CHECK_FALSE(server.is_out(110));
}

}  // namespace
}  // namespace weir::upstream
