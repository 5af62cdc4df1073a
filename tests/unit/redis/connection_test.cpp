#include "redis/connection.hpp"

#include "catch.hpp"

using namespace weir;
using namespace std::chrono_literals;

TEST_CASE("a server is silent when no reply arrived for the limit") {
  redis::Silence::Time now{std::chrono::hours(1000)};
  redis::Silence silence(500ms);
  CHECK(silence.is_over_limit(now));
  for (const Duration pause : {Duration(2s), Duration(500ms)}) {
    now += pause;
    silence.on_reply(now);
    CHECK_FALSE(silence.is_over_limit(now));
    CHECK_FALSE(silence.is_over_limit(now + 500ms - 1us));
    CHECK(silence.is_over_limit(now + 500ms));
  }
  // The latest reply counts.
  silence.on_reply(now + 400ms);
  CHECK_FALSE(silence.is_over_limit(now + 500ms));
  CHECK(silence.is_over_limit(now + 900ms));
}
