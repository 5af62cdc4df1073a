// Ticks are 100 ms.
#include "upstream/ejection.hpp"

#include "catch.hpp"

namespace weir::upstream {
namespace {

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
