// Instances decide with their shares while the shared store is unreachable.
#include "rules/share.hpp"

#include "catch.hpp"
#include "model.hpp"
#include "random_policy.hpp"
#include "seed.hpp"

namespace weir::rules::test {

namespace {

struct ShareCase {
  Definition whole;
  std::int64_t instances;
  std::vector<Rate> rates;
  std::int64_t capacity;
};

void check_shares(const std::vector<ShareCase>& rows) {
  for (const ShareCase& row : rows) {
    const Policy whole = policy_of(row.whole);
    CAPTURE(to_string(whole.algorithm), whole.rates[0].count, row.instances);
    const Result<Policy, Fault> share = share_of(whole, row.instances);
    REQUIRE(share.has_value());
    CHECK(share->rates == row.rates);
    CHECK(share->capacity == row.capacity);
    CHECK(share->algorithm == whole.algorithm);
    CHECK(share->max_delay == whole.max_delay);
  }
}

TEST_CASE("a share of a window is its count divided, rounded down") {
  check_shares({
      // the count
      {{.algorithm = Algorithm::fixed_window, .rates = {{100, seconds(60)}}},
       3,
       {{33, seconds(60)}},
       33},
      {{.algorithm = Algorithm::attributed_window, .rates = {{8, seconds(1)}}},
       4,
       {{2, seconds(1)}},
       2},
      {{.algorithm = Algorithm::sliding_log, .rates = {{5, seconds(60)}}},
       5,
       {{1, seconds(60)}},
       1},
      // every tier; with its tenth on top: 3 * (300 + 30) and 3 * (1500 + 150)
      {{.algorithm = Algorithm::sliding_window, .rates = {{900, seconds(1)}, {4500, seconds(10)}}},
       3,
       {{300, seconds(1)}, {1500, seconds(10)}},
       300},
      // 3 * (33 + 4) would be above 100 + 10
      {{.algorithm = Algorithm::sliding_window, .rates = {{100, seconds(1)}}},
       3,
       {{32, seconds(1)}},
       32},
      {{.algorithm = Algorithm::sliding_window, .rates = {{10, seconds(1)}}},
       10,
       {{1, seconds(1)}},
       1},
  });
}

TEST_CASE("a share of a bucket has the exact rate where it can, and its burst rounded down") {
  check_shares({
      // one instance has it all
      {{.algorithm = Algorithm::gcra, .rates = {{7, seconds(1)}}}, 1, {{7, seconds(1)}}, 7},
      {{.algorithm = Algorithm::gcra, .rates = {{100, seconds(1)}}, .burst = 50},
       4,
       {{25, seconds(1)}},
       12},
      {{.algorithm = Algorithm::gcra, .rates = {{10, seconds(1)}}, .burst = 20},
       3,
       {{10, seconds(3)}},
       6},
      {{.algorithm = Algorithm::token_bucket, .rates = {{1, seconds(60)}}, .burst = 8},
       4,
       {{1, seconds(240)}},
       2},
      // 4 times as long could not be counted exactly
      {{.algorithm = Algorithm::gcra, .rates = {{101, days(20'000)}}, .burst = 8},
       4,
       {{25, days(20'000)}},
       2},
      // 16,385 times 2^50 us is 2^50 us in 64 bits that overflow
      {{.algorithm = Algorithm::gcra, .rates = {{16'386, Duration{1LL << 50}}}},
       16'385,
       {{1, Duration{1LL << 50}}},
       1},
  });
}

TEST_CASE("a share of a leaky bucket has a part of the queue that max_delay lets it use") {
  check_shares({
      // one in service and the queue
      {{.algorithm = Algorithm::leaky_bucket, .rates = {{50, seconds(1)}}, .queue = 99},
       4,
       {{50, seconds(4)}},
       25},
      // max_delay lets only 10 wait, the queue 100
      {{.algorithm = Algorithm::leaky_bucket,
        .rates = {{10, seconds(1)}},
        .queue = 100,
        .max_delay = seconds(1)},
       2,
       {{5, seconds(1)}},
       5},
      // 11 at once: 10 that wait and one in service
      {{.algorithm = Algorithm::leaky_bucket,
        .rates = {{10, seconds(1)}},
        .queue = 100,
        .max_delay = seconds(1)},
       11,
       {{10, seconds(11)}},
       1},
      // the whole queue of two waits 0.2 s; max_delay would let three wait
      {{.algorithm = Algorithm::leaky_bucket,
        .rates = {{10, seconds(1)}},
        .queue = 2,
        .max_delay = milliseconds(350)},
       2,
       {{5, seconds(1)}},
       1},
      // one instance keeps the queue that max_delay does not let it use
      {{.algorithm = Algorithm::leaky_bucket,
        .rates = {{10, seconds(1)}},
        .queue = 100,
        .max_delay = seconds(1)},
       1,
       {{10, seconds(1)}},
       101},
  });
}

TEST_CASE("a share of a concurrency limit is a part of its units") {
  const Policy ten = policy_of({.algorithm = Algorithm::concurrency, .limit = 10});
  CHECK(share_of(ten, 3).value() == policy_of({.algorithm = Algorithm::concurrency, .limit = 3}));
  const Result<Policy, Fault> none = share_of(ten, 11);
  REQUIRE(none.has_error());
  CHECK(none.error().message == "one of 11 instances cannot have a share of 10 units");
}

TEST_CASE("a share keeps how the policy counts") {
  const Result<Policy, Fault> share = share_of(policy_of({.algorithm = Algorithm::fixed_window,
                                                          .rates = {{10, seconds(1)}},
                                                          .anchor = Anchor::clock,
                                                          .count_rejected = true}),
                                               2);
  REQUIRE(share.has_value());
  CHECK(share->anchor == Anchor::clock);
  CHECK(share->count_rejected);
  CHECK(share_of(policy_of({.algorithm = Algorithm::attributed_window,
                            .rates = {{10, seconds(1)}},
                            .anchor = Anchor::clock}),
                 2)
            .value()
            .anchor == Anchor::clock);
}

TEST_CASE("a share of nothing is a problem") {
  const std::vector<Definition> definitions = {
      {.algorithm = Algorithm::fixed_window, .rates = {{3, seconds(1)}}},
      {.algorithm = Algorithm::sliding_window, .rates = {{100, seconds(1)}, {3, seconds(10)}}},
      {.algorithm = Algorithm::gcra, .rates = {{100, seconds(1)}}, .burst = 3},
      {.algorithm = Algorithm::leaky_bucket, .rates = {{100, seconds(1)}}, .queue = 2},
      {.algorithm = Algorithm::leaky_bucket,
       .rates = {{100, seconds(1)}},
       .queue = 99,
       .max_delay = Duration{29'999}},
  };
  for (const Definition& definition : definitions) {
    CAPTURE(to_string(definition.algorithm));
    const Result<Policy, Fault> share = share_of(policy_of(definition), 4);
    REQUIRE(share.has_error());
    CHECK(share.error().message == "one of 4 instances cannot have a share of 3 units");
  }
}

TEST_CASE("a queue is not usable by the part of a microsecond that max_delay is too short for") {
  // Each of the second units would wait 333,333 1/3 us or 1 s.
  const std::vector<Definition> definitions = {
      {.algorithm = Algorithm::leaky_bucket,
       .rates = {{3, seconds(1)}},
       .queue = 1,
       .max_delay = Duration{333'333}},
      {.algorithm = Algorithm::leaky_bucket,
       .rates = {{1, seconds(1)}},
       .queue = 5,
       .max_delay = Duration{999'999}},
  };
  for (const Definition& definition : definitions) {
    CAPTURE(definition.rates[0].count);
    const Result<Policy, Fault> share = share_of(policy_of(definition), 2);
    REQUIRE(share.has_error());
    CHECK(share.error().message == "one of 2 instances cannot have a share of 1 unit");
  }
}

TEST_CASE("a rate that divides neither by its count nor by its duration has no share") {
  const Policy whole =
      policy_of({.algorithm = Algorithm::gcra, .rates = {{3, days(7'000)}}, .burst = 8});
  const Result<Policy, Fault> share = share_of(whole, 4);
  REQUIRE(share.has_error());
  CHECK(share.error().setting == Setting::rate);
  CHECK(share.error().message == "one of 4 instances cannot count its share of the rate exactly");
}

/// The most units that the policy's definition admits in a stretch of this length, its ends
/// included.
Wide most_in(const Policy& policy, std::size_t tier, Wide length) {
  const Wide count = policy.rates[tier].count;
  const Wide per = to_us(policy.rates[tier].per);
  switch (policy.algorithm) {
    case Algorithm::fixed_window:
    case Algorithm::attributed_window:
      return count * (floor_wide(length, per) + 2);
    case Algorithm::sliding_window:
      return (count + ceil_wide(count, 10)) * (floor_wide(length, per) + 1);
    case Algorithm::sliding_log:
      return count * (floor_wide(length, per) + 1);
    case Algorithm::leaky_bucket: {
      const Wide waiting = floor_wide(Wide{to_us(policy.max_delay)} * count, per);
      return std::min<Wide>(policy.capacity, 1 + waiting) + floor_wide(length * count, per);
    }
    case Algorithm::gcra:
    case Algorithm::token_bucket:
    case Algorithm::concurrency:
      break;
  }
  return policy.capacity + floor_wide(length * count, per);
}

void check_every_stretch(const Policy& policy, const std::vector<Charge>& charges) {
  for (std::size_t tier = 0; tier < policy.rates.size(); ++tier) {
    for (std::size_t last = 0; last < charges.size(); ++last) {
      Wide sum = 0;
      for (std::size_t first = last + 1; first-- > 0;) {
        sum += charges[first].units;
        const Wide length = to_us(charges[last].at - charges[first].at);
        if (sum > most_in(policy, tier, length)) FAIL("too much from " << first << " to " << last);
      }
    }
  }
}

/// Clients that take what they get, spread over instances that do not communicate.
template <class State>
void check_instances(const Policy& whole, const Policy& share, std::int64_t instances,
                     Random& random) {
  std::vector<State> states(static_cast<std::size_t>(instances));
  std::vector<Charge> charges;
  Decision last{};
  Instant now = epoch + Duration{random.between(0, to_us(days(31)))};
  for (int step = 0; step < 150; ++step) {
    now += random_step(random, share, last);
    const bool everywhere = random.one_in(3);
    const std::size_t chosen = static_cast<std::size_t>(random.between(0, instances - 1));
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (!everywhere && i != chosen) continue;
      // A leaky bucket lets a costly demand wait no longer than a cheap one: units one by one.
      const bool by_one = share.algorithm == Algorithm::leaky_bucket;
      const Demand demand = by_one ? Demand{} : random_demand(random, share, last);
      const std::int64_t left = level(share, states[i], now).remaining;
      last = decide(share, states[i], now, demand);
      if (last.allowed) charges.push_back({now, std::min(demand.cost, left)});
    }
  }
  check_every_stretch(whole, charges);
}

TEST_CASE("shares together never admit more than the policy does, over any stretch") {
  int checked = 0;
  const TestSeed seed;
  Random random(seed);
  for (const Algorithm algorithm :
       {Algorithm::fixed_window, Algorithm::attributed_window, Algorithm::sliding_window,
        Algorithm::sliding_log, Algorithm::token_bucket, Algorithm::gcra,
        Algorithm::leaky_bucket}) {
    for (int i = 0; i < 60; ++i) {
      const Policy whole = policy_of(random_definition(random, algorithm));
      const std::int64_t instances = random.between(2, 9);
      const Result<Policy, Fault> share = share_of(whole, instances);
      if (!share.has_value()) continue;
      ++checked;
      INFO(to_string(algorithm) << " " << i << " instances " << instances);
      INFO(whole.rates[0].count << "/" << to_us(whole.rates[0].per) << "us capacity "
                                << whole.capacity);
      with_state_of(algorithm, [&](auto state) {
        check_instances<decltype(state)>(whole, *share, instances, random);
      });
    }
  }
  CHECK(checked > 100);
}

}  // namespace

}  // namespace weir::rules::test
