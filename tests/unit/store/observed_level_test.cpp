#include "store/observed_level.hpp"

#include "catch.hpp"
#include "contract/store_under_test.hpp"

namespace weir::store::test {
namespace {

/// Four of ten units are left; a fifth comes after 1 s, all after 60 s.
rules::Decision level(std::int64_t remaining = 4, Duration reset_after = 60s,
                      Duration more_after = 1s) {
  return {
      .limit = 10, .remaining = remaining, .reset_after = reset_after, .more_after = more_after};
}

constexpr Duration transit = 10ms;
Exchange exchange_at(Duration after) {
  return {.sent_at = epoch + after, .answered_at = epoch + after + transit};
}

std::optional<Duration> retry_after(const ObservedLevel& observed, std::int64_t cost,
                                    Duration after = transit) {
  const auto decision = observed.decide(cost, epoch + after);
  return decision && !decision->allowed ? decision->retry_after : std::nullopt;
}

}  // namespace

TEST_CASE("A level holds until more units may be there") {
  const ObservedLevel observed(level(), exchange_at(0s));
  struct Row {
    std::int64_t cost;
    Duration after;
    bool known, allowed;
    Duration retry, reset, more;
  };
  for (const Row& row : {
           Row{4, 0ms, true, true, 0s, 60s + transit, 1s + transit},
           Row{4, 510ms, true, true, 0s, 59'500ms, 500ms},
           Row{5, 10ms, true, false, 1s, 60s, 1s},
           Row{5, 999'999us, true, false, transit + 1us, 59s + transit + 1us, transit + 1us},
           Row{5, 1s, false, false, 0s, 0s, 0s},
           Row{4, 1s, false, false, 0s, 0s, 0s},
           Row{6, 10ms, false, false, 0s, 0s, 0s},  // when two more are there is unknown
           // It is whole again when that is certain.
           Row{10, 60s + transit - 1us, false, false, 0s, 0s, 0s},
           Row{10, 60s + transit, true, true, 0s, 0s, 0s},
       }) {
    CAPTURE(row.cost, to_us(row.after));
    const auto decision = observed.decide(row.cost, epoch + row.after);
    REQUIRE(decision.has_value() == row.known);
    if (!row.known) continue;
    CHECK(decision->allowed == row.allowed);
    CHECK(decision->retry_after == (row.allowed ? std::nullopt : std::optional(row.retry)));
    CHECK(decision->reset_after == row.reset);
    CHECK(decision->more_after == row.more);
    CHECK(decision->remaining == (row.reset == 0s ? 10 : 4));
    CHECK(decision->limit == 10);
  }
}

TEST_CASE("A level that rises often is shown for a quarter of a second") {
  const ObservedLevel observed(level(4, 60s, 1ms), exchange_at(0s));
  CHECK(observed.decide(4, epoch + ObservedLevel::refresh_after - 1us).has_value());
  CHECK_FALSE(observed.decide(4, epoch + ObservedLevel::refresh_after).has_value());
  CHECK_FALSE(observed.decide(5, epoch + 1ms).has_value());
  // But not while it may be whole.
  const ObservedLevel brief(level(4, 100ms, 1ms), exchange_at(0s));
  CHECK(brief.decide(4, epoch + 99ms).has_value());
  CHECK_FALSE(brief.decide(4, epoch + 100ms).has_value());
  CHECK(brief.decide(4, epoch + 110ms)->remaining == 10);
}

TEST_CASE("All units that come back at once end every denial") {
  const ObservedLevel observed(level(4, 60s, 60s), exchange_at(0s));
  for (const std::int64_t cost : {5, 7, 10})
    CHECK(retry_after(observed, cost) == 60s);
  CHECK_FALSE(retry_after(observed, 7, 60s).has_value());
}

TEST_CASE("A cost above the limit never passes, whatever is left") {
  for (const ObservedLevel& observed : {ObservedLevel(level(), exchange_at(0s)),
                                        ObservedLevel(level(10, 0s, 0s), exchange_at(0s))}) {
    const auto decision = observed.decide(11, epoch + transit);
    REQUIRE(decision.has_value());
    CHECK_FALSE(decision->allowed);
    CHECK_FALSE(decision->retry_after.has_value());
    CHECK(observed.denied_until(11) == Instant::max());
  }
}

TEST_CASE("The retry times of three costs are kept, others lie between them") {
  ObservedLevel observed(level(), exchange_at(0s));
  observed.add_denial(7, 20s);
  CHECK(retry_after(observed, 7) == 20s);
  CHECK_FALSE(retry_after(observed, 6).has_value());
  observed.add_denial(9, 40s);
  observed.add_denial(6, 10s);
  // Denied until the smaller cost passes, and shown until the larger one does.
  CHECK(retry_after(observed, 6) == 10s);
  CHECK(retry_after(observed, 8) == 40s);
  CHECK(retry_after(observed, 10) == 60s);
  CHECK(observed.denied_until(8) == epoch + 20s);
  CHECK(observed.denied_until(10) == epoch + 40s);
  CHECK(observed.denied_until(5) == epoch + 1s);
  CHECK_FALSE(observed.denied_until(4).has_value());
  // A fourth replaces the one that passes first.
  observed.add_denial(8, 30s);
  CHECK(retry_after(observed, 8) == 30s);
  CHECK(retry_after(observed, 6) == 20s);
}

TEST_CASE("A later reply keeps the retry times while nothing was charged") {
  ObservedLevel first(level(), exchange_at(0s));
  first.add_denial(7, 20s);
  first.add_denial(6, 2s);
  struct Row {
    rules::Decision now;
    Duration after;
    bool keeps;
  };
  for (const Row& row : {Row{level(5, 57s, 3s), 3s, true}, Row{level(4, 57s, 3s), 3s, true},
                         Row{level(3, 57s, 3s), 3s, false},  // fewer are left
                         Row{level(5, 57'011ms, 3s), 3s, false} /* it is whole later */}) {
    CAPTURE(row.now.remaining, to_us(row.now.reset_after));
    ObservedLevel second(row.now, exchange_at(row.after));
    second.inherit(first);
    CHECK(retry_after(second, 7, row.after + transit) ==
          (row.keeps ? std::optional<Duration>(17s) : std::nullopt));
    CHECK_FALSE(second.denied_until(6) == epoch + 2s);  // it has passed
  }
}

TEST_CASE("A retry time that contradicts a newer one is dropped") {
  ObservedLevel observed(level(), exchange_at(0s));
  observed.add_denial(7, 20s);
  observed.add_denial(9, 40s);
  observed.add_denial(8, 50s);
  CHECK(retry_after(observed, 7) == 20s);
  CHECK(retry_after(observed, 8) == 50s);
  CHECK_FALSE(retry_after(observed, 9).has_value());
  observed.add_denial(9, 10s);
  CHECK_FALSE(retry_after(observed, 8).has_value());
  CHECK_FALSE(retry_after(observed, 7).has_value());
  // The same cost again, and one that never passes.
  observed.add_denial(9, std::nullopt);
  REQUIRE(observed.decide(9, epoch + transit).has_value());
  CHECK_FALSE(observed.decide(9, epoch + transit)->retry_after.has_value());
  CHECK(observed.denied_until(9) == Instant::max());
}

}  // namespace weir::store::test
