#include "admin/store_health.hpp"

#include <utility>

#include "catch.hpp"

namespace weir::admin {
namespace {

using Line = StoreHealth::Line;
using std::chrono::seconds;

const StoreStatus good{.connected = true, .deciding = true};
const StoreStatus silent{.connected = true, .last_error = "silent"};
const Instant start = instant_from_us(1'000'000);

StoreStatus lost(std::string reason, store::Error kind = store::Error::not_connected) {
  return {.last_error = std::move(reason), .kind = kind, .is_explained = true};
}
const StoreStatus gone = lost("gone");

}  // namespace

TEST_CASE("The first worker to lose the store and the last to get it back are logged") {
  StoreHealth health(2);
  CHECK(health.report(0, good, start) == Line::none);
  CHECK(health.report(1, good, start) == Line::none);
  CHECK(health.last_error().empty());
  CHECK(health.report(1, gone, start) == Line::loss);
  CHECK(health.last_error() == "gone");
  CHECK_FALSE(health.is_up());
  CHECK(health.report(0, silent, start) == Line::none);  // explains less than the line before
  CHECK(health.last_error() == "silent");
  CHECK(health.report(1, good, start) == Line::none);
  CHECK_FALSE(health.is_up());  // connected, but to a server that does not decide
  CHECK(health.report(0, good, start) == Line::back);
  CHECK(health.last_error().empty());
  CHECK(health.is_up());
}

TEST_CASE("A reason is logged at most once a minute, and only a few of each kind are") {
  using store::Error;
  StoreHealth health(1);
  const auto log = [&](const std::string& reason, Instant now, Error kind = Error::not_connected) {
    return health.report(0, lost(reason, kind), now) == Line::loss;
  };
  CHECK(log("gone", start));
  CHECK_FALSE(log("gone", start + std::chrono::hours(1)));
  CHECK(log("WRONGPASS", start));
  CHECK_FALSE(log("gone", start + seconds(59)));
  CHECK(log("gone", start + seconds(60)));
  CHECK_FALSE(log("gone", start + std::chrono::hours(1)));
  int logged = 0;
  for (int i = 0; i < 100; ++i)
    logged += log("port " + std::to_string(i), start + seconds(60)) ? 1 : 0;
  CHECK(logged == 1);
  for (const Error kind : {Error::refused, Error::other, Error::timeout}) {
    logged = 0;
    for (int i = 0; i < 100; ++i)
      logged += log(std::string(to_string(kind)) + std::to_string(i), start + seconds(60), kind);
    CHECK(logged == 3);
  }
  CHECK(health.report(0, good, start + seconds(61)) == Line::back);
  // This kind has two in the last minute.
  CHECK(log("port 100", start + seconds(62)));
  CHECK(health.report(0, good, start + seconds(63)) == Line::back);
  CHECK_FALSE(log("port 101", start + seconds(64)));
  CHECK(log("port 101", start + seconds(120)));
}

TEST_CASE("Short outages within a minute are logged once; readiness follows each of them") {
  StoreHealth health(1);
  const StoreStatus status = GENERATE(gone, silent);
  CHECK(health.report(0, status, start) == Line::loss);
  CHECK(health.report(0, good, start + seconds(1)) == Line::back);
  for (int i = 2; i < 58; i += 3) {
    CHECK(health.report(0, status, start + seconds(i)) == Line::later);
    CHECK_FALSE(health.is_up());
    CHECK_FALSE(health.last_error().empty());
    CHECK(health.report(0, silent, start + seconds(i + 1)) == Line::later);
    CHECK(health.report(0, good, start + seconds(i + 2)) == Line::none);
    CHECK(health.is_up());
  }
  SECTION("one that lasts is logged when the minute is over") {
    CHECK(health.report(0, status, start + seconds(59)) == Line::later);
    CHECK(health.report(0, status, start + seconds(60)) == Line::loss);
    CHECK(health.report(0, status, start + seconds(61)) != Line::loss);
    CHECK(health.report(0, good, start + seconds(62)) == Line::back);
  }
  SECTION("one with another reason is logged at once") {
    CHECK(health.report(0, lost("WRONGPASS"), start + seconds(59)) == Line::loss);
    CHECK(health.report(0, good, start + seconds(59)) == Line::back);
  }
  SECTION("one after a minute is logged at once") {
    CHECK(health.report(0, status, start + seconds(60)) == Line::loss);
  }
}

TEST_CASE("Each kind of error is logged once a minute") {
  using store::Error;
  StoreHealth health(2);
  CHECK(health.may_log(Error::out_of_memory, start));
  CHECK_FALSE(health.may_log(Error::out_of_memory, start));
  CHECK(health.may_log(Error::refused, start + std::chrono::seconds(1)));
  CHECK_FALSE(health.may_log(Error::out_of_memory, start + std::chrono::milliseconds(59'999)));
  CHECK(health.may_log(Error::out_of_memory, start + std::chrono::seconds(60)));
  CHECK_FALSE(health.may_log(Error::refused, start + std::chrono::seconds(60)));
}

TEST_CASE("A store that cannot be reached at the start is lost, one that was never used is not") {
  StoreHealth health(1);
  CHECK_FALSE(health.is_up());
  CHECK(health.last_error().empty());
  CHECK(health.report(0, gone, start) == Line::loss);
  CHECK(health.report(0, good, start) == Line::back);
}

namespace {

const Instant first_stall = instant_from_us(1'000'000);
constexpr auto timed_out = static_cast<std::size_t>(store::Error::timeout);

UndecidedRequests::Counts timeouts(std::uint64_t count) {
  UndecidedRequests::Counts counts{};
  counts[timed_out] = count;
  return counts;
}

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

}  // namespace

}  // namespace weir::admin
