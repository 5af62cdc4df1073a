// Random histories of holds and settlements, checked against a list of all of them. Nothing here
// uses the functions that it checks, except to print and to advance.
#include "catch.hpp"
#include "model.hpp"
#include "random_policy.hpp"
#include "rules/holds.hpp"
#include "seed.hpp"

namespace weir::rules::test {

namespace {

constexpr Duration model_us{1};

/// A request: admitted with `held` units, settled with `actual`. One that is charged on admission
/// settles at once.
struct Request {
  std::int64_t held = 0;
  std::int64_t actual = 0;
  Instant settled_at{};
  bool in_flight = true;
};

struct History {
  std::vector<Request> requests;
  /// requests[i] settled in the order of time.
  std::vector<std::size_t> settled;
  /// The requests that were in flight after the latest admission of a cost.
  std::vector<std::size_t> in_flight_then;

  std::int64_t held() const {
    std::int64_t sum = 0;
    for (const Request& request : requests)
      sum += request.in_flight ? request.held : 0;
    return sum;
  }
  /// The most that settlements since the latest admission may exceed the definition.
  Wide excess() const {
    Wide sum = 0;
    for (const std::size_t i : in_flight_then) {
      const Request& request = requests[i];
      if (!request.in_flight) sum += std::max<std::int64_t>(request.actual - request.held, 0);
    }
    return sum;
  }
  void note_admission() {
    in_flight_then.clear();
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (requests[i].in_flight) in_flight_then.push_back(i);
    }
  }
};

/// The most units that the definition of a policy allows in a stretch, both ends included.
Wide most_within(const Policy& policy, Duration length) {
  const Rate& rate = policy.rates[0];
  const Wide windows = to_us(length) / to_us(rate.per) + 1;
  switch (policy.algorithm) {
    case Algorithm::fixed_window:
    case Algorithm::attributed_window:
      return (windows + 1) * rate.count;
    case Algorithm::sliding_log:
      return windows * rate.count;
    case Algorithm::sliding_window: {
      Wide most = -1;
      for (const Rate& tier : policy.rates) {
        const Wide one =
            (Wide{to_us(length)} / to_us(tier.per) + 1) * (tier.count + ceil_wide(tier.count, 10));
        if (most < 0 || one < most) most = one;
      }
      return most;
    }
    case Algorithm::token_bucket:
    case Algorithm::gcra:
    case Algorithm::leaky_bucket:
      return policy.capacity + floor_wide(Wide{to_us(length)} * rate.count, to_us(rate.per));
    case Algorithm::concurrency:
      break;
  }
  return 0;
}

/// Every stretch that ends with the newest settlement.
void check_stretches(const Policy& policy, const History& history) {
  const Instant end = history.requests[history.settled.back()].settled_at;
  const Wide excess = history.excess();
  Wide sum = 0;
  for (auto i = history.settled.rbegin(); i != history.settled.rend(); ++i) {
    const Request& request = history.requests[*i];
    sum += request.actual;
    const bool within = sum <= most_within(policy, end - request.settled_at) + excess;
    if (within) continue;
    CAPTURE(to_us(end - request.settled_at), static_cast<std::int64_t>(sum),
            static_cast<std::int64_t>(excess));
    REQUIRE(within);
  }
}

/// Units that a bucket has left after all settlements, in exact arithmetic; negative: a debt.
Wide left_after(const Policy& policy, const History& history, Instant now) {
  const Rate& rate = policy.rates[0];
  Wide left = policy.capacity;
  Wide sum = 0;
  for (auto i = history.settled.rbegin(); i != history.settled.rend(); ++i) {
    const Request& request = history.requests[*i];
    sum += request.actual;
    const Wide grown = Wide{to_us(now - request.settled_at)} * rate.count;
    left = std::min(left,
                    floor_wide((policy.capacity - sum) * to_us(rate.per) + grown, to_us(rate.per)));
  }
  return left;
}

/// Units of the last window of a log that are left.
Wide left_in_last_window(const Policy& policy, const History& history, Instant now) {
  Wide left = policy.capacity;
  for (const std::size_t i : history.settled) {
    if (history.requests[i].settled_at > now - policy.rates[0].per)
      left -= history.requests[i].actual;
  }
  return left;
}

Wide most_left(const Policy& policy, const History& history, Instant now) {
  switch (policy.algorithm) {
    case Algorithm::token_bucket:
    case Algorithm::gcra:
    case Algorithm::leaky_bucket:
      return left_after(policy, history, now);
    case Algorithm::sliding_log:
      return left_in_last_window(policy, history, now);
    default:
      return policy.capacity;
  }
}

/// The key's units: never more than the list allows, and never more than the capacity.
template <class State>
void check_units(const Policy& policy, const State& state, const Holds& holds,
                 const History& history, Instant now) {
  REQUIRE(holds.held == history.held());
  REQUIRE(holds.debt >= 0);
  REQUIRE(Wide{holds.debt} <= history.excess());
  const std::int64_t unused = room_in(policy, state, now);
  if (!policy.count_rejected) REQUIRE(unused >= holds.held);
  REQUIRE(Wide{unused} - holds.debt <= most_left(policy, history, now));
}

/// Without holds, a retry_after that a debt up to the capacity gives is the instant at which the
/// demand passes.
template <class State>
void check_retry(const Policy& policy, State state, Holds holds, Instant now, Demand demand,
                 const Admission& admission) {
  if (admission.allowed) return;
  const bool never = demand.cost > policy.capacity && !demand.overdraft;
  REQUIRE(admission.retry_after.has_value() == !never);
  if (never) return;
  REQUIRE(*admission.retry_after > Duration{0});
  if (is_empty(holds)) return;
  REQUIRE(*admission.retry_after >= std::chrono::seconds(1));
  const std::int64_t cost = demand.overdraft ? 0 : demand.cost;
  const bool is_exact = holds.held == 0 && cost <= 2 * policy.capacity - holds.debt;
  // max_delay admits later than the capacity does.
  const bool queues = policy.algorithm == Algorithm::leaky_bucket;
  if (policy.count_rejected || queues || !is_exact) return;
  const Instant retry = now + *admission.retry_after;
  repay(policy, state, holds, retry);
  REQUIRE(admit_beside(policy, state, holds, retry, demand).allowed);
}

template <class State>
void check_level(const Policy& policy, const State& state, const Holds& holds, Instant now) {
  const Level shown = level_beside(policy, state, holds, now);
  REQUIRE(shown.remaining >= 0);
  REQUIRE(shown.remaining + holds.held <= policy.capacity);
  REQUIRE(shown.more_after <= shown.reset_after);
  REQUIRE((shown.more_after > Duration{0}) == (shown.remaining < policy.capacity));
  REQUIRE(admit_beside(policy, state, holds, now, {.cost = shown.remaining}).allowed);
  REQUIRE_FALSE(admit_beside(policy, state, holds, now, {.cost = shown.remaining + 1}).allowed);
}

/// The key is fresh again, and not later than its debt explains.
template <class State>
void check_end(const Policy& policy, State state, Holds holds, Instant now) {
  Duration round{policy.refill};
  for (const Rate& rate : policy.rates)
    round = std::max(round, rate.per + rate.per / 5);
  const Instant whole = whole_beside(policy, state, holds);
  REQUIRE(whole <= now + round * (holds.debt / policy.capacity + 3));
  const Instant at = std::max(whole, now);
  repay(policy, state, holds, at);
  REQUIRE(holds == Holds{});
  REQUIRE(whole_at(policy, state) <= at);
  const Level fresh = level_beside(policy, state, holds, at);
  REQUIRE(fresh.remaining == policy.capacity);
  REQUIRE(fresh.reset_after == Duration{0});
}

std::int64_t random_actual(Random& random, const Policy& policy, std::int64_t held) {
  switch (random.between(0, 7)) {
    case 0:
    case 1:
      return held;
    case 2:
      return 0;
    case 3:
    case 4:
      return random.between(0, held);
    case 5:
      return held + random.between(0, 3);
    case 6:
      return random.between(0, policy.capacity);
    default:
      return random.between(0, 3 * policy.capacity);
  }
}

template <class State>
class Walk {
 public:
  Walk(const Policy& policy, Random& random) : policy_(policy), random_(random) {}

  void run() {
    const std::int64_t steps = random_.between(2, 40);
    for (std::int64_t step = 0; step < steps; ++step) {
      now_ += random_step(random_, policy_, last_);
      CAPTURE(step, to_us(now_), holds_.held, holds_.debt);
      if (random_.one_in(5)) {
        refund_some();
      } else if (random_.one_in(2) || !settle_one()) {
        request();
      }
      check_units(policy_, state_, holds_, history_, now_);
      check_level(policy_, state_, holds_, now_);
    }
    while (settle_one())
      check_units(policy_, state_, holds_, history_, now_);
    check_end(policy_, state_, holds_, now_);
  }

 private:
  void request() {
    repay(policy_, state_, holds_, now_);
    const Demand demand = random_demand(random_, policy_, last_);
    const Admission admission = admit_beside(policy_, state_, holds_, now_, demand);
    check_retry(policy_, state_, holds_, now_, demand, admission);
    if (admission.allowed && demand.cost > 0) {
      REQUIRE(holds_.debt == 0);
      if (random_.one_in(4)) {
        charge(policy_, state_, now_, admission.units);
        add_settled(admission.units);
      } else {
        hold(holds_, admission.units);
        history_.requests.push_back({.held = admission.units});
      }
      history_.note_admission();
    } else if (policy_.count_rejected && !admission.allowed) {
      charge(policy_, state_, now_, demand.cost);
    }
    last_ = decision_beside(policy_, state_, holds_, now_, admission);
  }
  void add_settled(std::int64_t units) {
    history_.settled.push_back(history_.requests.size());
    history_.requests.push_back(
        {.held = units, .actual = units, .settled_at = now_, .in_flight = false});
    check_stretches(policy_, history_);
  }
  bool settle_one() {
    std::vector<std::size_t> in_flight;
    for (std::size_t i = 0; i < history_.requests.size(); ++i) {
      if (history_.requests[i].in_flight) in_flight.push_back(i);
    }
    if (in_flight.empty()) return false;
    const auto one =
        in_flight[static_cast<std::size_t>(random_.between(0, std::ssize(in_flight) - 1))];
    Request& request = history_.requests[one];
    request.actual = random_actual(random_, policy_, request.held);
    request.settled_at = now_;
    request.in_flight = false;
    history_.settled.push_back(one);
    const Instant whole_before = whole_at(policy_, state_);
    const std::int64_t debt_before = holds_.debt;
    settle(policy_, state_, holds_, now_, request.held, request.actual);
    check_window(whole_before, debt_before, request);
    check_stretches(policy_, history_);
    return true;
  }
  /// The list has what is given back as a settlement of negative units. With several tiers each
  /// gives back what it has.
  void refund_some() {
    repay(policy_, state_, holds_, now_);
    const std::int64_t units = random_.between(1, random_.one_in(4) ? 3 * policy_.capacity : 3);
    const Holds before = holds_;
    const std::int64_t room_before = room_in(policy_, state_, now_);
    const Instant whole_before = whole_at(policy_, state_);
    settle(policy_, state_, holds_, now_, 0, -units);
    const std::int64_t room = room_in(policy_, state_, now_);
    REQUIRE(holds_.held == before.held);
    REQUIRE(holds_.debt == before.debt - std::min(units, before.debt));
    const std::int64_t freed =
        std::min(units - (before.debt - holds_.debt), policy_.capacity - room_before);
    const bool has_tiers = policy_.algorithm == Algorithm::sliding_window;
    if (!has_tiers && !policy_.count_rejected) REQUIRE(room == room_before + freed);
    if (room < policy_.capacity) check_window(whole_before, before.debt, {});
    history_.settled.push_back(history_.requests.size());
    history_.requests.push_back({.actual = -(has_tiers ? units : freed + before.debt - holds_.debt),
                                 .settled_at = now_,
                                 .in_flight = false});
    check_stretches(policy_, history_);
  }
  /// A settlement does not move the end of a live window, and one within its hold owes nothing.
  void check_window(Instant whole_before, std::int64_t debt_before, const Request& request) {
    const bool window = policy_.algorithm == Algorithm::fixed_window ||
                        policy_.algorithm == Algorithm::attributed_window;
    if (window && whole_before > now_) REQUIRE(whole_at(policy_, state_) == whole_before);
    if (request.actual <= request.held) REQUIRE(holds_.debt <= debt_before);
  }

  const Policy& policy_;
  Random& random_;
  State state_{};
  Holds holds_{};
  History history_{};
  Decision last_{};
  Instant now_ = epoch;
};

void check_histories(Algorithm algorithm, int histories) {
  const TestSeed first;
  for (int i = 0; i < histories; ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    Random random(seed);
    const Policy policy = policy_of(random_definition(random, algorithm));
    INFO(to_string(algorithm) << " seed " << seed << ": " << policy.rates[0].count << "/"
                              << to_us(policy.rates[0].per) << "us capacity " << policy.capacity);
    with_state_of(algorithm, [&]<class State>(const State&) { Walk<State>(policy, random).run(); });
  }
}

constexpr Algorithm charging[] = {Algorithm::fixed_window,   Algorithm::attributed_window,
                                  Algorithm::sliding_window, Algorithm::sliding_log,
                                  Algorithm::token_bucket,   Algorithm::gcra,
                                  Algorithm::leaky_bucket};

}  // namespace

TEST_CASE("holds: random histories stay within the definition and what requests in flight exceed") {
  for (const Algorithm algorithm : charging)
    check_histories(algorithm, history_length(1'500));
}

TEST_CASE("holds: 100,000 random histories of each algorithm", "[.holds]") {
  for (const Algorithm algorithm : charging)
    check_histories(algorithm, 100'000);
}

TEST_CASE("holds: concurrency never has more units in flight than its limit") {
  const TestSeed seed;
  Random random(seed);
  for (int i = 0; i < 200; ++i) {
    const std::int64_t limit = random.between(1, 20);
    const Policy policy = policy_of({.algorithm = Algorithm::concurrency, .limit = limit});
    ConcurrencyState state;
    Holds holds;
    std::vector<std::int64_t> in_flight;
    std::int64_t sum = 0;
    for (int step = 0; step < 200; ++step) {
      const Instant now = epoch + model_us * step;
      if (!in_flight.empty() && random.one_in(2)) {
        const auto one = random.between(0, std::ssize(in_flight) - 1);
        sum -= in_flight[static_cast<std::size_t>(one)];
        settle(policy, state, holds, now, in_flight[static_cast<std::size_t>(one)],
               random.between(0, 3));
        in_flight.erase(in_flight.begin() + one);
      } else {
        const std::int64_t cost = random.between(0, limit + 1);
        const Admission admission = admit_beside(policy, state, holds, now, {.cost = cost});
        REQUIRE(admission.allowed == (sum + cost <= limit));
        if (!admission.allowed) {
          REQUIRE(admission.retry_after ==
                  (cost > limit ? std::nullopt : std::optional(Duration{1'000'000})));
          continue;
        }
        hold(holds, admission.units);
        in_flight.push_back(admission.units);
        sum += admission.units;
      }
      REQUIRE(level_beside(policy, state, holds, now).remaining == limit - sum);
      REQUIRE(holds.held == sum);
      REQUIRE(holds.debt == 0);
    }
  }
}

}  // namespace weir::rules::test
