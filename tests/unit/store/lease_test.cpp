#include "store/lease.hpp"

#include "catch.hpp"
#include "contract/store_under_test.hpp"

namespace weir::store {
namespace {

using namespace test;

constexpr Duration length = 200ms;
constexpr Lease::Terms terms{.most = 100, .duration = length};
const rules::Policy limit = policy(rules::Algorithm::gcra, 1'000, 1s);

rules::Decision granted(std::int64_t units, std::int64_t remaining = 500) {
  return {.allowed = true,
          .limit = 1'000,
          .remaining = remaining,
          .reset_after = 1s,
          .more_after = 10ms,
          .held = units,
          .by_holds = true};
}

/// A lease with `units`, asked for at `now`.
void grant(Lease& lease, std::int64_t asked, std::int64_t units, Instant now) {
  lease.on_asked(asked, now);
  lease.on_granted(limit, terms, granted(units), now);
}

void demand(Lease& lease, int requests, Instant now, std::int64_t cost = 1) {
  for (int i = 0; i < requests; ++i) {
    lease.demand().note_request(now, length);
    lease.demand().note(cost, now);
  }
}

TEST_CASE("a key that is not hot is not asked for") {
  Lease lease;
  demand(lease, Lease::hot_requests - 1, epoch);
  CHECK(lease.units_to_ask(terms, 1, epoch) == 0);
  demand(lease, 1, epoch);
  CHECK(lease.units_to_ask(terms, 1, epoch) == Lease::hot_requests);
}

TEST_CASE("a lease is as large as the demand of a period, within its share") {
  Lease lease;
  demand(lease, 10, epoch, 3);
  CHECK(lease.units_to_ask(terms, 1, epoch) == 30);
  demand(lease, 100, epoch, 3);
  CHECK(lease.units_to_ask(terms, 1, epoch) == terms.most);
  CHECK(lease.units_to_ask({.most = least_leased_units - 1, .duration = length}, 1, epoch) == 0);
}

TEST_CASE("a lease is renewed when half of it is spent, or of its time is over") {
  Lease lease;
  demand(lease, 20, epoch);
  grant(lease, 20, 20, epoch);
  lease.spend(9);
  CHECK(lease.units_to_ask(terms, 1, epoch + 1ms) == 0);
  lease.spend(1);
  CHECK(lease.units_to_ask(terms, 1, epoch + 1ms) == 10);
  lease.unspend(1);
  CHECK(lease.units_to_ask(terms, 1, epoch + length / 2) == 9);
  lease.on_asked(9, epoch + length / 2);
  CHECK(lease.is_asking());
  CHECK(lease.units_to_ask(terms, 1, epoch + length / 2) == 0);
}

TEST_CASE("a refund returns spent units to the lease, and ends a denial") {
  Lease lease;
  demand(lease, 20, epoch);
  grant(lease, 20, 5, epoch);
  lease.spend(4);
  REQUIRE(lease.denial(limit, 3, epoch));
  CHECK(refund(lease, 1) == 1);
  CHECK(lease.covers(2, epoch));
  CHECK_FALSE(lease.denial(limit, 3, epoch));
  CHECK(refund(lease, 9) == 3);
  CHECK(refund(lease, 1) == 0);
  CHECK(lease.end().actual == 0);
}

TEST_CASE("a unit is spent once, and until the end of the lease") {
  Lease lease;
  demand(lease, 20, epoch);
  grant(lease, 20, 20, epoch);
  CHECK(lease.covers(20, epoch + length - Duration{1}));
  CHECK_FALSE(lease.covers(20, epoch + length));
  CHECK_FALSE(lease.covers(21, epoch));
  lease.spend(15);
  CHECK(lease.covers(5, epoch));
  CHECK_FALSE(lease.covers(6, epoch));
  CHECK(lease.admission(epoch).remaining == 505);
  // Settling what was spent leaves the rest.
  const Lease::Spent spent = lease.settle_spent(terms);
  CHECK(spent.held == 15);
  CHECK(spent.actual == 15);
  CHECK(lease.units() == 5);
  CHECK(lease.covers(5, epoch));
  const Lease::Spent rest = lease.end();
  CHECK(rest.held == 5);
  CHECK(rest.actual == 0);
  CHECK_FALSE(lease.covers(1, epoch));
}

TEST_CASE("a lease ends with the override in force") {
  Lease lease;
  demand(lease, 20, epoch);
  lease.on_asked(20, epoch);
  rules::Decision decision = granted(20);
  decision.ends_after = 50ms;
  lease.on_granted(limit, terms, decision, epoch + 1ms);
  CHECK(lease.covers(1, epoch + 49ms));
  CHECK_FALSE(lease.covers(1, epoch + 50ms));
}

TEST_CASE("units beyond the present demand go back") {
  Lease lease;
  demand(lease, 60, epoch);
  grant(lease, 60, 60, epoch);
  demand(lease, 10, epoch + 2 * length);
  lease.spend(10);
  const Lease::Spent spent = lease.settle_spent(terms);
  CHECK(spent.actual == 10);
  CHECK(spent.held == 10 + 30);
  CHECK(lease.units() == 20);
}

TEST_CASE("an exhausted lease denies until the next question") {
  Lease lease;
  demand(lease, 20, epoch);
  grant(lease, 20, 3, epoch);
  CHECK(lease.covers(3, epoch));
  CHECK_FALSE(lease.denial(limit, 3, epoch));
  const auto denial = lease.denial(limit, 5, epoch + 1ms);
  REQUIRE(denial);
  CHECK_FALSE(denial->allowed);
  CHECK(denial->remaining == 3);
  CHECK(denial->limit == 1'000);
  // The second unit beyond the rest takes an interval more than the first.
  CHECK(denial->retry_after == Duration{10ms} - 1ms + 1ms);
  // A cost above the limit never passes: the store says so.
  CHECK_FALSE(lease.denial(limit, 1'001, epoch));
  CHECK(lease.units_to_ask(terms, 1, epoch + 1ms) == 0);
  CHECK_FALSE(lease.denial(limit, 5, epoch + length / 8));
  CHECK(lease.units_to_ask(terms, 1, epoch + length / 8) == 17);
}

TEST_CASE("without holds an exhausted key is not asked about before more is available") {
  rules::Decision nothing{.limit = 1'000, .reset_after = 1s, .more_after = 80ms, .held = 0};
  Lease lease;
  demand(lease, 20, epoch);
  lease.on_asked(20, epoch);
  lease.on_granted(limit, terms, nothing, epoch);
  CHECK(lease.units_to_ask(terms, 1, epoch + 79ms) == 0);
  CHECK(lease.units_to_ask(terms, 1, epoch + 80ms) == 20);
  nothing.more_after = 10s;
  lease.on_asked(20, epoch + 80ms);
  lease.on_granted(limit, terms, nothing, epoch + 80ms);
  CHECK(lease.units_to_ask(terms, 1, epoch + 80ms + length) > 0);
}

TEST_CASE("a denial is not used for longer than units are") {
  Lease lease;
  demand(lease, 20, epoch);
  const rules::Decision nothing{.limit = 1'000, .reset_after = 10s, .more_after = 10s};
  lease.on_asked(20, epoch);
  lease.on_granted(limit, terms, nothing, epoch + 80ms);
  CHECK(lease.denial(limit, 1, epoch + length - 1ms));
  CHECK_FALSE(lease.denial(limit, 1, epoch + length));
  rules::Decision ending = nothing;
  ending.ends_after = 30ms;
  lease.on_asked(20, epoch + length);
  lease.on_granted(limit, terms, ending, epoch + length);
  CHECK(lease.denial(limit, 1, epoch + length + 29ms));
  CHECK_FALSE(lease.denial(limit, 1, epoch + length + 30ms));
}

TEST_CASE("the retry time under other numbers than those of the policy is never too short") {
  Lease lease;
  demand(lease, 20, epoch);
  lease.on_asked(20, epoch);
  lease.on_granted(limit, terms,
                   {.limit = 10, .reset_after = 1s, .more_after = 100ms, .refill = Duration{1s}},
                   epoch);
  CHECK(lease.denial(limit, 1, epoch).value().retry_after == Duration{100ms});
  CHECK(lease.denial(limit, 5, epoch).value().retry_after == Duration{1s});
}

TEST_CASE("a lease that has ended denies nothing") {
  Lease lease;
  demand(lease, 20, epoch);
  grant(lease, 20, 3, epoch);
  REQUIRE(lease.denial(limit, 5, epoch));
  lease.end();
  CHECK_FALSE(lease.denial(limit, 5, epoch));
}

TEST_CASE("a denial because of leases of others ends when these are back") {
  const rules::Policy hour = policy(rules::Algorithm::fixed_window, 100, 1h);
  struct Row {
    std::int64_t cost, units, held_by_others;
    Duration retry_after;
  };
  // With one unit left here.
  for (const Row& row : {Row{2, 1, 1, 1s}, Row{4, 1, 3, 1s}, Row{5, 1, 3, 1h}, Row{2, 1, 0, 1h},
                         Row{1, 0, 1, 1s}, Row{1, 0, 0, 1h}}) {
    CAPTURE(row.cost, row.units, row.held_by_others);
    Lease lease;
    demand(lease, 20, epoch);
    lease.on_asked(20, epoch);
    lease.on_granted(hour, terms,
                     {.limit = 100,
                      .reset_after = 1h,
                      .more_after = 1h,
                      .held = row.units,
                      .by_holds = true,
                      .held_by_others = row.held_by_others},
                     epoch);
    const auto denial = lease.denial(hour, row.cost, epoch);
    REQUIRE(denial);
    CHECK(denial->retry_after == row.retry_after);
    CHECK(denial->more_after == row.retry_after);
  }
}

TEST_CASE("a denial of the store because of leases shows when these are back") {
  const auto units = std::make_shared<Gauge>();
  Claim leased = claim(limit, 1, 5);
  leased.lease = &units;
  const auto denial = [](std::int64_t remaining, std::int64_t held_by_others) {
    return rules::Decision{.limit = 1'000,
                           .remaining = remaining,
                           .reset_after = 1h,
                           .more_after = 1h,
                           .retry_after = 1h,
                           .by_holds = true,
                           .held_by_others = held_by_others};
  };
  const auto expected = [](const Claim& claim, rules::Decision decision) {
    expect_leases_back(claim, decision);
    return decision.retry_after;
  };
  CHECK(expected(leased, denial(0, 5)) == Duration{1s});
  CHECK(expected(leased, denial(3, 2)) == Duration{1s});
  CHECK(expected(leased, denial(3, 1)) == Duration{1h});
  CHECK(expected(leased, denial(0, 0)) == Duration{1h});
  rules::Decision never = denial(0, 5);
  never.retry_after.reset();
  CHECK_FALSE(expected(leased, never));
  // Units of requests in progress come back when these end.
  leased.lease = nullptr;
  CHECK(expected(leased, denial(0, 5)) == Duration{1h});
}

TEST_CASE("units that no request of a whole period can use are stranded") {
  Lease lease;
  demand(lease, 20, epoch);
  grant(lease, 20, 3, epoch);
  CHECK(lease.is_scarce());
  CHECK_FALSE(lease.is_stranded(length, epoch + length));  // none has come
  lease.note_unused();
  CHECK_FALSE(lease.is_stranded(length, epoch + length - Duration{1}));
  CHECK(lease.is_stranded(length, epoch + length));
  // Further units change nothing, a use does.
  grant(lease, 17, 1, epoch + 100ms);
  CHECK(lease.is_stranded(length, epoch + length));
  lease.note_use(epoch + 150ms);
  lease.note_unused();
  CHECK_FALSE(lease.is_stranded(length, epoch + length));
  CHECK(lease.is_stranded(length, epoch + 150ms + length));
  lease.on_asked(1, epoch + 150ms + length);
  CHECK_FALSE(lease.is_stranded(length, epoch + 150ms + length));
}

TEST_CASE("a question without a decision is not repeated at once") {
  Lease lease;
  demand(lease, 20, epoch);
  lease.on_asked(20, epoch);
  lease.on_refused(length, epoch);
  CHECK(lease.is_idle());
  CHECK(lease.units_to_ask(terms, 1, epoch) == 0);
  CHECK_FALSE(lease.denial(limit, 1, epoch));
  CHECK(lease.units_to_ask(terms, 1, epoch + length) == 20);
}

}  // namespace
}  // namespace weir::store
