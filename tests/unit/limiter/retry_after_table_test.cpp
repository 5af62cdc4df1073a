#include "limiter/retry_after_table.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include "catch.hpp"

namespace weir::limiter {
namespace {

using namespace std::chrono_literals;

constexpr Instant denied_at{1'000'000s};

store::Key retried(std::uint64_t identity, std::uint32_t policy = 0) {
  return {.identity = {.low = identity, .high = identity * 3}, .policy_id = policy};
}

TEST_CASE("a request is early after the answer and before the instant in it") {
  RetryAfterTable table(1);
  CHECK_FALSE(table.is_early(retried(1), denied_at));
  table.give(retried(1), denied_at, denied_at + 2s);
  CHECK_FALSE(table.is_early(retried(1), denied_at - 1us));  // it was sent without the answer
  CHECK_FALSE(table.is_early(retried(1), denied_at));
  CHECK(table.is_early(retried(1), denied_at + 1us));
  CHECK(table.is_early(retried(1), denied_at + 2s - 1us));
  CHECK_FALSE(table.is_early(retried(1), denied_at + 2s));
}

TEST_CASE("keys are apart by identity and by policy") {
  RetryAfterTable table(1);
  table.give(retried(1, 5), denied_at, denied_at + 2s);
  table.give(retried(3, 5), denied_at, denied_at + 9s);
  CHECK(table.is_early(retried(1, 5), denied_at + 1s));
  CHECK_FALSE(table.is_early(retried(2, 5), denied_at + 1s));
  CHECK_FALSE(table.is_early(retried(1, 6), denied_at + 1s));
}

TEST_CASE("the latest answer counts, and those that overlap are one") {
  RetryAfterTable table(1);
  table.give(retried(1), denied_at, denied_at + 10s);
  table.give(retried(1), denied_at + 1s, denied_at + 3s);  // another jitter
  CHECK_FALSE(table.is_early(retried(1), denied_at + 4s));
  // It arrived between the two answers, and was decided after the second.
  CHECK(table.is_early(retried(1), denied_at + 500ms));
  table.give(retried(1), denied_at + 5s, denied_at + 6s);
  CHECK_FALSE(table.is_early(retried(1), denied_at + 4s));
  CHECK(table.is_early(retried(1), denied_at + 5500ms));
}

TEST_CASE("with more keys than entries those stay that may be retried last") {
  RetryAfterTable table(1);
  constexpr std::uint64_t longest = 1'000;
  for (std::uint64_t i = 0; i < longest; ++i)
    table.give(retried(i), denied_at, denied_at + 1h);
  for (std::uint64_t i = longest; i < longest + 200'000; ++i)
    table.give(retried(i), denied_at, denied_at + 1s);
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < longest; ++i)
    found += table.is_early(retried(i), denied_at + 2s) ? 1 : 0;
  CHECK(found >= longest - 5);  // more than four of them rarely share a set
}

TEST_CASE("a reader never joins two answers to a key that another thread gives") {
  RetryAfterTable table(1);
  // Their times do not overlap: the begin of one and the end of the other would include 15 s.
  std::atomic<bool> is_writing{true};
  std::thread writer([&] {
    for (int i = 0; i < 300'000; ++i) {
      table.give(retried(1), denied_at, denied_at + 10s);
      table.give(retried(1), denied_at + 20s, denied_at + 21s);
    }
    is_writing = false;
  });
  std::uint64_t wrong = 0;
  while (is_writing)
    wrong += table.is_early(retried(1), denied_at + 15s) ? 1 : 0;
  writer.join();
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace weir::limiter
