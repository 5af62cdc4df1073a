// Properties of every algorithm, every policy and every sequence of demands, checked against the
// models. Those of concurrency, which only holds, are in holds_model_test.cpp.
#include "catch.hpp"
#include "model.hpp"
#include "random_policy.hpp"
#include "seed.hpp"

namespace weir::rules::test {

namespace {

constexpr int policies = 60;
constexpr int demands = 150;

constexpr Duration us{1};

/// retry_after is the first instant at which the same demand passes.
template <class State>
void check_retry(const Policy& policy, const State& state, Instant now, Demand demand,
                 const Decision& decision) {
  if (decision.allowed) return;
  REQUIRE(decision.retry_after.has_value() == (demand.cost <= policy.capacity));
  if (!decision.retry_after) return;
  const Instant retry = now + *decision.retry_after;
  REQUIRE(retry > now);
  REQUIRE(admit(policy, state, retry, demand).allowed);
  REQUIRE_FALSE(admit(policy, state, retry - us, demand).allowed);
}

/// remaining, more_after and reset_after are exact, and whole_at names the same instant.
template <class State>
void check_level(const Policy& policy, const State& state, Instant now, const Level& shown) {
  REQUIRE(shown.remaining >= 0);
  REQUIRE(shown.remaining <= policy.capacity);
  REQUIRE(shown.more_after <= shown.reset_after);
  REQUIRE(admit(policy, state, now, {.cost = shown.remaining}).allowed);
  REQUIRE_FALSE(admit(policy, state, now, {.cost = shown.remaining + 1}).allowed);

  REQUIRE((shown.more_after > Duration{0}) == (shown.remaining < policy.capacity));
  if (shown.more_after > Duration{0}) {
    REQUIRE(level(policy, state, now + shown.more_after).remaining > shown.remaining);
    REQUIRE(level(policy, state, now + shown.more_after - us).remaining == shown.remaining);
  }
  const Level whole = level(policy, state, now + shown.reset_after);
  REQUIRE(whole.remaining == policy.capacity);
  REQUIRE(whole.reset_after == Duration{0});
  if (shown.reset_after > Duration{0}) {
    REQUIRE(level(policy, state, now + shown.reset_after - us).reset_after == us);
    REQUIRE(whole_at(policy, state) == now + shown.reset_after);
  } else {
    REQUIRE(whole_at(policy, state) <= now);
  }
}

std::int64_t random_refund(Random& random, const Policy& policy, const Decision& last) {
  switch (random.between(0, 4)) {
    case 0:
      return policy.capacity - last.remaining;
    case 1:
      return random.between(0, policy.capacity + 1);
    case 2:
      return random.one_in(4) ? huge : 2;
    default:
      return 1;
  }
}

/// A refund gives back what it names, never more than is used, and changes nothing else.
template <class State>
void check_refund(const Policy& policy, State& state, std::vector<Charge>& charges, Instant now,
                  std::int64_t units) {
  CAPTURE(units);
  const Level before = level(policy, state, now);
  refund(policy, state, now, units);
  if (units > 0) charges.push_back({now, -units});
  const Level after = level(policy, state, now);
  REQUIRE(after.remaining == units_left(policy, charges, now));
  REQUIRE(after.reset_after <= before.reset_after);
  check_level(policy, state, now, after);
  const bool is_window = policy.algorithm == Algorithm::fixed_window ||
                         policy.algorithm == Algorithm::attributed_window;
  if (is_window && after.remaining < policy.capacity)
    REQUIRE(after.reset_after == before.reset_after);
  // max_delay may deny units that are free.
  if (policy.algorithm == Algorithm::leaky_bucket) return;
  const std::int64_t freed = after.remaining - before.remaining;
  const std::int64_t most = std::min(units, policy.capacity - before.remaining);
  REQUIRE(freed <= most);
  // Units of denied requests and of other tiers do not become free at once.
  if (!policy.count_rejected && policy.algorithm != Algorithm::sliding_window)
    REQUIRE(freed == most);
}

template <class State>
void check_sequence(const Policy& policy, Random& random, State state) {
  std::vector<Charge> charges;
  Decision last{};
  Instant now = epoch + Duration{random.between(0, to_us(days(31)))};
  for (int step = 0; step < demands; ++step) {
    now += random_step(random, policy, last);
    const Demand demand = random_demand(random, policy, last);
    const std::int64_t left = units_left(policy, charges, now);
    const Duration delay = policy.algorithm == Algorithm::leaky_bucket && demand.cost > 0
                               ? delay_in_queue(policy, charges, now)
                               : Duration{0};
    CAPTURE(step, to_us(now), demand.cost, demand.overdraft, left);

    const Decision decision = decide(policy, state, now, demand);
    REQUIRE(decision.allowed == (demand.cost <= left || demand.overdraft));
    REQUIRE(decision.delay == (decision.allowed ? delay : Duration{0}));
    const bool counts_all = policy.algorithm == Algorithm::fixed_window;
    const std::int64_t most = counts_all ? exact_limit : policy.capacity;
    const std::int64_t rejected = policy.count_rejected ? std::min(demand.cost, most) : 0;
    const std::int64_t taken = decision.allowed ? std::min(demand.cost, left) : rejected;
    if (taken > 0) charges.push_back({now, taken});

    REQUIRE(decision.remaining == units_left(policy, charges, now));
    check_retry(policy, state, now, demand, decision);
    check_level(policy, state, now, level(policy, state, now));
    last = decision;
    if (random.one_in(4))
      check_refund(policy, state, charges, now, random_refund(random, policy, last));
  }
}

void check_algorithm(Algorithm algorithm) {
  const TestSeed seed;
  for (int i = 0; i < policies; ++i) {
    Random random(seed + static_cast<std::uint64_t>(i));
    const Policy policy = policy_of(random_definition(random, algorithm));
    INFO(to_string(algorithm) << " seed " << seed + static_cast<std::uint64_t>(i));
    INFO(policy.rates[0].count << "/" << to_us(policy.rates[0].per) << "us capacity "
                               << policy.capacity);
    with_state_of(algorithm, [&](auto state) { check_sequence(policy, random, std::move(state)); });
  }
}

}  // namespace

TEST_CASE("properties: fixed_window") {
  check_algorithm(Algorithm::fixed_window);
}
TEST_CASE("properties: attributed_window") {
  check_algorithm(Algorithm::attributed_window);
}
TEST_CASE("properties: sliding_window") {
  check_algorithm(Algorithm::sliding_window);
}
TEST_CASE("properties: sliding_log") {
  check_algorithm(Algorithm::sliding_log);
}
TEST_CASE("properties: token_bucket") {
  check_algorithm(Algorithm::token_bucket);
}
TEST_CASE("properties: gcra") {
  check_algorithm(Algorithm::gcra);
}
TEST_CASE("properties: leaky_bucket") {
  check_algorithm(Algorithm::leaky_bucket);
}

/// In every window: refunded units count from the refund on.
TEST_CASE("properties: refunds keep the guarantee of sliding_window") {
  const TestSeed seed;
  Random random(seed);
  for (int i = 0; i < policies; ++i) {
    CAPTURE(i);
    const Rate rate = random_rate(random);
    const Policy policy = policy_of({.algorithm = Algorithm::sliding_window, .rates = {rate}});
    SlidingWindowState state;
    std::vector<Charge> charges;
    Decision last{};
    Instant now = epoch;
    for (int step = 0; step < demands; ++step) {
      now += random_step(random, policy, last);
      const std::int64_t used = rate.count - level(policy, state, now).remaining;
      if (used > 0 && random.one_in(3)) {
        const std::int64_t units = random.one_in(2) ? 1 : random.between(1, used);
        refund(policy, state, now, units);
        charges.push_back({now, -units});
        continue;
      }
      const Admission greedy = admit(policy, state, now, {.cost = huge, .overdraft = true});
      charge(policy, state, now, greedy.units);
      charges.push_back({now, greedy.units});
      last = decide(policy, state, now, {});
      std::int64_t in_window = 0;
      for (const Charge& charge : charges)
        in_window += charge.at > now - rate.per ? charge.units : 0;
      REQUIRE(in_window <= rate.count + (rate.count + 9) / 10);
    }
  }
}

TEST_CASE("properties: token_bucket and gcra are the same limit") {
  const TestSeed seed;
  Random random(seed);
  for (int i = 0; i < policies; ++i) {
    CAPTURE(i);
    Definition definition = random_definition(random, Algorithm::gcra);
    const Policy gcra = policy_of(definition);
    definition.algorithm = Algorithm::token_bucket;
    const Policy bucket = policy_of(definition);
    GcraState tat;
    TokenBucketState tokens;
    Decision last{};
    Instant now = epoch;
    for (int step = 0; step < demands; ++step) {
      now += random_step(random, gcra, last);
      const Demand demand = random_demand(random, gcra, last);
      last = decide(gcra, tat, now, demand);
      REQUIRE(last == decide(bucket, tokens, now, demand));
      if (!random.one_in(4)) continue;
      const std::int64_t units = random_refund(random, gcra, last);
      refund(gcra, tat, now, units);
      refund(bucket, tokens, now, units);
    }
  }
}

TEST_CASE(
    "properties: sliding_window admits at most a sub-window's share more than the exact log") {
  const TestSeed seed;
  Random random(seed);
  for (int i = 0; i < policies; ++i) {
    CAPTURE(i);
    const Rate rate = random_rate(random);
    const Policy policy = policy_of({.algorithm = Algorithm::sliding_window, .rates = {rate}});
    SlidingWindowState state;
    std::vector<Charge> charges;
    Decision last{};
    Instant now = epoch;
    for (int step = 0; step < demands; ++step) {
      now += random_step(random, policy, last);
      const Admission greedy = admit(policy, state, now, {.cost = huge, .overdraft = true});
      charge(policy, state, now, greedy.units);
      charges.push_back({now, greedy.units});
      last = decide(policy, state, now, {});
      std::int64_t in_window = 0;
      for (const Charge& charge : charges)
        in_window += charge.at > now - rate.per ? charge.units : 0;
      REQUIRE(in_window <= rate.count + (rate.count + 9) / 10);
    }
  }
}

}  // namespace weir::rules::test
