#include "limiter/charge.hpp"

#include "catch.hpp"

namespace weir::limiter {
namespace {

const ChargeByStatus failed_logins{.statuses = {{401, 401}, {403, 403}}};
const ChargeByStatus all_but_errors{.statuses = {{500, 599}}, .is_exclusion = true};

TEST_CASE("a cost is charged for the listed statuses, or for all others") {
  const auto [status, is_failure, is_success] = GENERATE(table<int, bool, bool>({
      {200, false, true},
      {101, false, true},
      {400, false, true},
      {401, true, true},
      {402, false, true},
      {403, true, true},
      {499, false, true},
      {500, false, false},
      {599, false, false},
  }));
  CAPTURE(status);
  const auto settled = [](bool is_charged) {
    return Settled{.units = is_charged ? 7 : 0, .by = SettledBy::status};
  };
  CHECK(settle(failed_logins, 7, {.status = status}) == settled(is_failure));
  CHECK(settle(all_but_errors, 7, {.status = status}) == settled(is_success));
  // A client that leaves during the body does not change what the response was.
  CHECK(settle(failed_logins, 7, {.status = status, .client_has_left = true}) ==
        settled(is_failure));
}

TEST_CASE("without a response only a client that left is charged") {
  for (const ChargeByStatus& charge : {failed_logins, all_but_errors}) {
    CHECK(settle(charge, 7, {}) == Settled{.units = 0, .by = SettledBy::missing});
    CHECK(settle(charge, 7, {.client_has_left = true}) ==
          Settled{.units = 7, .by = SettledBy::aborted});
  }
}

}  // namespace
}  // namespace weir::limiter
