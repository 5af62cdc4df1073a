#include "limiter/charge.hpp"

#include "catch.hpp"

namespace weir::limiter {
namespace {

const Charge failed_logins{.by_status = ChargeByStatus{.statuses = {{401, 401}, {403, 403}}}};
const Charge all_but_errors{.by_status =
                                ChargeByStatus{.statuses = {{500, 599}}, .is_exclusion = true}};

usage::UsagePlan plan_of(std::vector<usage::UsageSource> sources) {
  return *usage::UsagePlan::compile(sources);
}
usage::JsonPointer pointer(const char* text) {
  return *usage::JsonPointer::parse(text);
}

/// A header, else the sum of two pointers; 100 units at most.
Charge by_cost() {
  return {.cost_from = plan_of({{.field = "x-cost"}, {.pointers = {pointer("/a"), pointer("/b")}}}),
          .at_most = 100};
}
usage::Usage stated(std::optional<std::int64_t> cost, std::size_t entry = 0,
                    bool is_complete = true) {
  return {.cost = cost, .entry = entry, .is_complete = is_complete};
}

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

TEST_CASE("a gRPC call is charged by its own status") {
  const Charge failed{.by_grpc_status = ChargeByStatus{.statuses = {{7, 7}, {16, 16}}}};
  const Charge all_but_down{.by_grpc_status =
                                ChargeByStatus{.statuses = {{13, 15}}, .is_exclusion = true}};
  const auto [status, is_failure, is_success] = GENERATE(table<int, bool, bool>({
      {0, false, true},
      {7, true, true},
      {13, false, false},
      {16, true, true},
  }));
  CAPTURE(status);
  const auto settled = [](bool is_charged) {
    return Settled{.units = is_charged ? 7 : 0, .by = SettledBy::status};
  };
  const RequestEnd end{.status = 200, .grpc_status = status, .is_grpc = true};
  CHECK(settle(failed, 7, end) == settled(is_failure));
  CHECK(settle(all_but_down, 7, end) == settled(is_success));
  // The HTTP status is that of all calls.
  Charge both = failed;
  both.by_status = ChargeByStatus{.statuses = {{200, 200}}};
  CHECK(settle(both, 7, end) == settled(is_failure));
  // Without a rule for gRPC it decides.
  CHECK(settle(failed_logins, 7, end) == settled(false));
}

TEST_CASE("a request that is no gRPC call has none of the listed statuses") {
  Charge charge{.by_grpc_status = ChargeByStatus{.statuses = {{16, 16}}}};
  CHECK(settle(charge, 7, {.status = 401}).units == 0);
  charge.by_grpc_status->is_exclusion = true;
  CHECK(settle(charge, 7, {.status = 401}).units == 7);
  charge.by_status = failed_logins.by_status;
  CHECK(settle(charge, 7, {.status = 401}).units == 7);
  CHECK(settle(charge, 7, {.status = 200}).units == 0);
}

TEST_CASE("a response of gRPC that was cut has no status") {
  const Charge charge{.by_grpc_status =
                          ChargeByStatus{.statuses = {{14, 14}}, .is_exclusion = true}};
  CHECK(settle(charge, 7, {.status = 200, .is_grpc = true}) ==
        Settled{.units = 0, .by = SettledBy::missing});
  const RequestEnd at_deadline{
      .status = 200, .grpc_status = 4, .is_grpc = true, .deadline_has_passed = true};
  CHECK(settle(charge, 7, at_deadline) == Settled{.units = 7, .by = SettledBy::aborted});
  RequestEnd answered = at_deadline;  // late, but with an outcome
  answered.grpc_status = 0;
  CHECK(settle(charge, 7, answered).by == SettledBy::status);
  answered = at_deadline;  // a status of the server's own
  answered.deadline_has_passed = false;
  CHECK(settle(charge, 7, answered).by == SettledBy::status);
  CHECK(settle(charge, 7, {.status = 200, .is_grpc = true, .client_has_left = true}) ==
        Settled{.units = 7, .by = SettledBy::aborted});
}

TEST_CASE("without a response only a client that left is charged") {
  for (const Charge& charge : {failed_logins, all_but_errors, by_cost(), Charge{}}) {
    CHECK(settle(charge, 7, {}) == Settled{.units = 0, .by = SettledBy::missing});
    CHECK(settle(charge, 7, {.client_has_left = true}) ==
          Settled{.units = 7, .by = SettledBy::aborted});
  }
}

TEST_CASE("a request whose end no proxy reports in time is charged what was held") {
  Charge free = by_cost();
  free.missing_is_free = true;
  for (const Charge& charge : {failed_logins, all_but_errors, free, Charge{}})
    CHECK(settle(charge, 7, {.lease_has_ended = true}) ==
          Settled{.units = 7, .by = SettledBy::lease});
}

TEST_CASE("a response that states its cost is charged the cost") {
  const auto [said, units, by] = GENERATE(table<usage::Usage, std::int64_t, SettledBy>({
      {stated(3), 3, SettledBy::header},
      {stated(0), 0, SettledBy::header},
      {stated(3, 1), 3, SettledBy::json},
      {stated(50, 1), 50, SettledBy::json},     // a debt
      {stated(5000, 1), 100, SettledBy::json},  // at_most
      {stated({}), 7, SettledBy::missing},
      // The rest of a response that was cut off could state more, not less.
      {stated(3, 1, false), 7, SettledBy::missing},
      {stated(50, 1, false), 50, SettledBy::json},
      {stated({}, 0, false), 7, SettledBy::missing},
  }));
  CAPTURE(said.cost.value_or(-1), said.is_complete);
  CHECK(settle(by_cost(), 7, {.status = 200}, said) == Settled{.units = units, .by = by});
}

TEST_CASE("a client that leaves early pays what was held, even if a missing cost is free") {
  Charge free = by_cost();
  free.missing_is_free = true;
  const RequestEnd left{.status = 200, .client_has_left = true};
  const Settled held{.units = 7, .by = SettledBy::aborted};
  CHECK(settle(free, 7, {.status = 200}, stated({})) ==
        Settled{.units = 0, .by = SettledBy::missing});
  CHECK(settle(free, 7, {.status = 200}) == Settled{.units = 0, .by = SettledBy::missing});
  CHECK(settle(free, 7, left, stated({}, 0, false)) == held);
  CHECK(settle(by_cost(), 7, left, stated({}, 0, false)) == held);
  CHECK(settle(by_cost(), 7, left, stated(3, 1, false)) == held);
  // A cost that was read before the client left counts.
  CHECK(settle(by_cost(), 7, left, stated(3, 1)) == Settled{.units = 3, .by = SettledBy::json});
}

TEST_CASE("the status is the first condition of a cost that the response states") {
  Charge charge = by_cost();
  charge.by_status = all_but_errors.by_status;
  CHECK(settle(charge, 7, {.status = 500}, stated(50)) ==
        Settled{.units = 0, .by = SettledBy::status});
  CHECK(settle(charge, 7, {.status = 200}, stated(50)) ==
        Settled{.units = 50, .by = SettledBy::header});
}

TEST_CASE("a reserve without cost_from is the cost") {
  const Charge charge{.reserve = Reserve{.units = 7}};
  CHECK(settle(charge, 7, {.status = 200}) == Settled{.units = 7, .by = SettledBy::reserve});
}

TEST_CASE("the description of a charge") {
  CHECK(describe_statuses(failed_logins) == "status 401, 403");
  CHECK(describe_statuses(all_but_errors) == "all statuses but 500-599");
  const Charge both{.by_status = all_but_errors.by_status,
                    .by_grpc_status = ChargeByStatus{.statuses = {{16, 16}}}};
  CHECK(describe_statuses(both) == "all statuses but 500-599, gRPC status 16");
  CHECK(describe(*by_cost().cost_from) == "header x-cost, else JSON /a + /b");
}

}  // namespace
}  // namespace weir::limiter
