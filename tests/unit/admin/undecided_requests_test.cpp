#include "admin/undecided_requests.hpp"

#include "catch.hpp"

namespace weir::admin {
namespace {

using std::chrono::seconds;

const Instant first_stall = instant_from_us(1'000'000);
constexpr auto timed_out = static_cast<std::size_t>(store::Error::timeout);

UndecidedRequests::Counts timeouts(std::uint64_t count) {
  UndecidedRequests::Counts counts{};
  counts[timed_out] = count;
  return counts;
}

}  // namespace

TEST_CASE("Every request is in one line, which follows it within a minute") {
  UndecidedRequests undecided;
  std::uint64_t added = 0;
  std::uint64_t logged = 0;
  int lines = 0;
  int waiting_since = -1;
  for (int second = 0; second < 1'000; ++second) {
    const Instant now = first_stall + seconds(second);
    // Stalls of different lengths and distances.
    const bool is_stall = second < 900 && (second % 7 == 0 || second / 100 % 2 == 1);
    undecided.add(timeouts(is_stall ? 3 : 0), now);
    added += is_stall ? 3 : 0;
    if (is_stall && waiting_since < 0) waiting_since = second;
    const auto report = undecided.take_due(now);
    if (!report) continue;
    ++lines;
    logged += report->counts[timed_out];
    REQUIRE(waiting_since >= 0);
    CHECK(report->within == seconds(second - waiting_since));
    CHECK(second - waiting_since <= 60);
    waiting_since = -1;
  }
  CHECK(logged == added);
  CHECK(waiting_since == -1);
  CHECK(lines <= 1'000 / 60 + 1);
}

TEST_CASE("The first line has what happens within ten seconds") {
  UndecidedRequests undecided;
  CHECK_FALSE(undecided.take_due(first_stall).has_value());
  undecided.add(timeouts(1), first_stall);
  undecided.add(timeouts(2), first_stall + seconds(9));
  CHECK_FALSE(undecided.take_due(first_stall + seconds(9)).has_value());
  const auto report = undecided.take_due(first_stall + seconds(10));
  REQUIRE(report.has_value());
  CHECK(report->counts == timeouts(3));
  CHECK(report->within == seconds(10));
}

TEST_CASE("The counts that are left can be taken at once, and only once") {
  UndecidedRequests undecided;
  CHECK_FALSE(undecided.take(first_stall).has_value());
  undecided.add(timeouts(1), first_stall);
  CHECK(undecided.take(first_stall).has_value());
  CHECK_FALSE(undecided.take(first_stall + seconds(61)).has_value());
}

}  // namespace weir::admin
