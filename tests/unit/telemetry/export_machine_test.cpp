#include "telemetry/export_machine.hpp"

#include "catch.hpp"

namespace weir::telemetry {
namespace {

using Action = ExportMachine::Action;
using Ending = ExportMachine::Ending;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration interval = seconds(5);

constexpr Instant at(Duration after_start) {
  return instant_from_us(1'000'000'000) + after_start;
}

/// A machine whose request was sent at this time.
ExportMachine sending(Duration after_start) {
  ExportMachine machine(interval, at({}));
  machine.sent(at(after_start));
  return machine;
}

}  // namespace

TEST_CASE("a pause doubles up to half a minute, and its upper half is random") {
  struct Row {
    int failures;
    Duration longest;
  };
  for (const Row& row : {Row{1, seconds(1)}, Row{2, seconds(2)}, Row{3, seconds(4)},
                         Row{5, seconds(16)}, Row{6, seconds(30)}, Row{1000, seconds(30)}}) {
    CAPTURE(row.failures);
    CHECK(pause_after(row.failures, 0) == row.longest);
    const auto half = static_cast<std::uint64_t>(row.longest.count() / 2);
    CHECK(pause_after(row.failures, half) == row.longest / 2);
  }
}

TEST_CASE("what waits is exported when a batch is full, and at the latest after the interval") {
  ExportMachine machine(interval, at({}));
  CHECK(machine.next(at({}), false) == Action::nothing);
  CHECK(machine.next(at(seconds(1)), true) == Action::take);
  CHECK(machine.next(at(interval - Duration{1}), false) == Action::nothing);
  CHECK(machine.next(at(interval), false) == Action::take);
  machine.took_nothing(at(interval));
  CHECK(machine.next(at(interval * 2 - Duration{1}), false) == Action::nothing);
  CHECK(machine.next(at(interval * 2), false) == Action::take);
}

TEST_CASE("one request at a time") {
  ExportMachine machine = sending(seconds(1));
  CHECK(machine.is_sending());
  CHECK(machine.next(at(minutes(1)), true) == Action::nothing);
  CHECK(machine.ended(ExportOutcome::accepted, {}, at(minutes(1)), 0) == Ending::done);
  CHECK_FALSE(machine.is_sending());
  CHECK(machine.next(at(minutes(1)), true) == Action::take);
}

TEST_CASE("a request that fails for a passing reason is sent again after a pause") {
  ExportMachine machine = sending({});
  CHECK(machine.ended(ExportOutcome::retryable, {}, at(seconds(1)), 0) == Ending::retries);
  CHECK(machine.is_retrying());
  CHECK(machine.next(at(seconds(2) - Duration{1}), true) == Action::nothing);
  CHECK(machine.next(at(seconds(2)), true) == Action::resend);
  CHECK(machine.ended(ExportOutcome::retryable, {}, at(seconds(2)), 0) == Ending::retries);
  CHECK(machine.next(at(seconds(4) - Duration{1}), true) == Action::nothing);
  CHECK(machine.next(at(seconds(4)), true) == Action::resend);
  CHECK(machine.ended(ExportOutcome::accepted, {}, at(seconds(4)), 0) == Ending::done);
  machine.sent(at(seconds(5)));
  CHECK(machine.ended(ExportOutcome::retryable, {}, at(seconds(5)), 0) == Ending::retries);
  CHECK(machine.next(at(seconds(6)), false) == Action::resend);
}

TEST_CASE("a request is given up a minute after its first attempt") {
  ExportMachine machine = sending({});
  Instant now = at({});
  int attempts = 1;
  while (machine.ended(ExportOutcome::retryable, {}, now, 0) == Ending::retries) {
    while (machine.next(now, true) != Action::resend)
      now += seconds(1);
    ++attempts;
  }
  CHECK(attempts == 6);  // at 0, 1, 3, 7, 15 and 31 s
  CHECK(now == at(seconds(31)));
  CHECK_FALSE(machine.is_retrying());
  CHECK(machine.next(now + seconds(30) - Duration{1}, true) == Action::nothing);
  CHECK(machine.next(now + seconds(30), true) == Action::take);
}

TEST_CASE("Retry-After is the pause, and a long one is respected by the next request") {
  ExportMachine machine = sending({});
  CHECK(machine.ended(ExportOutcome::retryable, seconds(20), at({}), 0) == Ending::retries);
  CHECK(machine.next(at(seconds(20) - Duration{1}), true) == Action::nothing);
  CHECK(machine.next(at(seconds(20)), true) == Action::resend);
  CHECK(machine.ended(ExportOutcome::retryable, minutes(5), at(seconds(20)), 0) ==
        Ending::given_up);
  CHECK(machine.next(at(seconds(20) + minutes(5) - Duration{1}), true) == Action::nothing);
  CHECK(machine.next(at(seconds(20) + minutes(5)), true) == Action::take);
}

TEST_CASE("a Retry-After of days counts as ten minutes") {
  ExportMachine machine = sending({});
  CHECK(machine.ended(ExportOutcome::retryable, std::chrono::hours(48), at({}), 0) ==
        Ending::given_up);
  CHECK(machine.next(at(minutes(10)), true) == Action::take);
}

TEST_CASE("a request that is rejected is never sent again, and the next one waits a second") {
  ExportMachine machine = sending({});
  CHECK(machine.ended(ExportOutcome::rejected, {}, at({}), 0) == Ending::given_up);
  CHECK(machine.next(at(seconds(1) - Duration{1}), true) == Action::nothing);
  CHECK(machine.next(at(seconds(1)), true) == Action::take);
}

TEST_CASE("another interval counts from the reload on, the same one goes on") {
  ExportMachine machine(interval, at({}));
  machine.set_interval(interval, at(seconds(4)));
  CHECK(machine.next(at(interval), false) == Action::take);
  machine.set_interval(seconds(2), at(seconds(4)));
  CHECK(machine.next(at(seconds(6) - Duration{1}), false) == Action::nothing);
  CHECK(machine.next(at(seconds(6)), false) == Action::take);
}

}  // namespace weir::telemetry
