// The rates at which a policy is decided besides its own.
#include "replay/other_rates.hpp"

#include <algorithm>

#include "catch.hpp"
#include "replay/rate_ladder.hpp"

namespace weir::replay {
namespace {

using rules::Algorithm;
using std::chrono::seconds;

rules::Definition per_second(std::int64_t count, std::optional<std::int64_t> burst = {}) {
  return {.rates = {{.count = count, .per = seconds(1)}}, .burst = burst};
}

std::vector<std::int64_t> counts_of(const std::vector<OtherRate>& rates, bool round_only = false) {
  std::vector<std::int64_t> counts;
  for (const OtherRate& one : rates) {
    if (one.is_round || !round_only) counts.push_back(one.definition.rates[0].count);
  }
  return counts;
}

}  // namespace

TEST_CASE("round counts are 1, 2, 2.5 and 5 times powers of ten") {
  CHECK(round_counts(0).empty());
  CHECK(round_counts(49) == std::vector<std::int64_t>{1, 2, 5, 10, 20, 25});
  CHECK(round_counts(250) == std::vector<std::int64_t>{1, 2, 5, 10, 20, 25, 50, 100, 200, 250});
  CHECK(round_counts(std::numeric_limits<std::int64_t>::max()).back() == 500'000'000'000'000'000);
}

TEST_CASE("multiples are whole, and none is there twice") {
  CHECK(counts_of(other_rates(per_second(5), false)) == std::vector<std::int64_t>{2, 5, 10});
  CHECK(counts_of(other_rates(per_second(1), false)) == std::vector<std::int64_t>{1, 2});
  const auto rates = other_rates(per_second(10), true);
  CHECK(counts_of(rates) == counts_of(rates, true));  // 5, 10 and 20 are round
  CHECK(counts_of(rates) == round_counts(10'000));
  const auto ten = std::ranges::find(rates, "x1", &OtherRate::times);
  REQUIRE(ten != rates.end());
  CHECK(ten->definition.rates[0].count == 10);
}

TEST_CASE("a burst that is written stays, and else it is the count") {
  for (const OtherRate& one : other_rates(per_second(10, 3), true))
    CHECK(one.numbers.capacity == 3);
  for (const OtherRate& one : other_rates(per_second(10), true))
    CHECK(one.numbers.capacity == one.definition.rates[0].count);
  CHECK(round_rates_without_burst(per_second(10)).empty());
  for (const OtherRate& one : round_rates_without_burst(per_second(10, 3)))
    CHECK(one.numbers.capacity == one.definition.rates[0].count);
}

TEST_CASE("a concurrency policy has limits in place of rates") {
  const auto rates = other_rates({.algorithm = rules::Algorithm::concurrency, .limit = 3}, true);
  std::vector<std::int64_t> limits;
  for (const OtherRate& one : rates) {
    CHECK(one.numbers.capacity == one.definition.limit);
    if (limits.size() < 6) limits.push_back(*one.definition.limit);
  }
  CHECK(limits == std::vector<std::int64_t>{1, 2, 3, 5, 6, 10});
  CHECK(rates.back().definition.limit == 2'500);
}

TEST_CASE("tiers change by the same factor, rounded up") {
  const rules::Definition tiers{
      .algorithm = Algorithm::sliding_window,
      .rates = {{.count = 10, .per = seconds(1)}, {.count = 25, .per = seconds(10)}}};
  CHECK(with_count(tiers, 5)->rates[1].count == 13);
  CHECK(with_count(tiers, 20)->rates[1].count == 50);
}

TEST_CASE("rates that the rules refuse are left out, and a ladder has room for the others") {
  const rules::Definition log{.algorithm = Algorithm::sliding_log,
                              .rates = {{.count = 60'000, .per = seconds(60)}}};
  CHECK(counts_of(other_rates(log, true)).back() == 100'000);
  CHECK_FALSE(with_count(log, 120'000));
  const auto most = other_rates(per_second(1'000'000'000'000), true);
  CHECK(most.size() <= RateLadder::most_rates);
  const auto fixed = other_rates({.algorithm = Algorithm::fixed_window,
                                  .rates = {{.count = 4'000'000'000'000'000, .per = seconds(60)}}},
                                 true);
  CHECK(fixed.size() <= RateLadder::most_rates);
}

}  // namespace weir::replay
