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

namespace {

/// Whether the pause is in the upper half of `longest`.
bool is_of(Duration longest, Duration pause) {
  return pause >= longest / 2 && pause <= longest;
}

}  // namespace

TEST_CASE("pauses grow until a connection was ready for as long as the longest of them") {
  redis::Backoff backoff(1);
  for (const auto longest : {50ms, 100ms, 200ms, 400ms, 800ms, 1000ms, 1000ms, 1000ms})
    CHECK(is_of(longest, backoff.next()));
  backoff.on_ready_for(1s - 1us);
  CHECK(is_of(1s, backoff.next()));
  backoff.on_ready_for(1s);
  CHECK(is_of(50ms, backoff.next()));
  CHECK(is_of(100ms, backoff.next()));
}

TEST_CASE("the longest pause is taken at once, and later ones are as long") {
  redis::Backoff backoff(1);
  CHECK(is_of(1s, backoff.next_longest()));
  CHECK(is_of(1s, backoff.next()));
  CHECK(is_of(1s, backoff.next_longest()));
}

TEST_CASE("pauses depend on the seed only") {
  redis::Backoff one(1);
  redis::Backoff same(1);
  redis::Backoff other(std::uint64_t{1} << 40);
  const Duration pause = one.next();
  CHECK(same.next() == pause);
  CHECK(other.next() != pause);
}
