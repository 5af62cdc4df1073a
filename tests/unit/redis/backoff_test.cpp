#include "redis/backoff.hpp"

#include "catch.hpp"

using namespace weir;
using namespace std::chrono_literals;
using redis::retry_after;

TEST_CASE("the pause doubles with each failure, to a second") {
  struct Row {
    int failures;
    Duration longest;
  };
  const auto row = GENERATE(values<Row>({{1, 50ms},
                                         {2, 100ms},
                                         {3, 200ms},
                                         {4, 400ms},
                                         {5, 800ms},
                                         {6, 1s},
                                         {redis::failures_at_longest, 1s},
                                         {7, 1s},
                                         {2'000'000'000, 1s},
                                         // nothing failed yet, or a counter ran over
                                         {0, 50ms},
                                         {-5, 50ms}}));
  CAPTURE(row.failures);
  CHECK(retry_after(row.failures, 0) == row.longest);
}

TEST_CASE("the pause is somewhere in its upper half") {
  Duration least = 1s;
  Duration most = 0s;
  for (std::uint64_t random = 0; random < 30'000; ++random) {
    const auto pause = retry_after(1, random * 0x9e3779b97f4a7c15);
    least = std::min(least, pause);
    most = std::max(most, pause);
  }
  CHECK(least == 25ms);
  CHECK(most == 50ms);
}
