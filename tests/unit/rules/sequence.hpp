// A rule as a table: one row a demand, in the order of time.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "rules/rules.hpp"

namespace weir::rules::test {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

/// retry_after of a demand that passed, and of one that never will.
constexpr Duration passed{-1};
constexpr Duration never{-2};

struct Row {
  Duration now;
  std::int64_t cost;
  bool allowed;
  std::int64_t remaining;
  Duration reset_after;
  Duration retry_after;
  Duration delay{0};
};

/// An instant of this decade that every window of up to a day starts at.
inline const Instant epoch = instant_from_us(20'000LL * 86'400'000'000LL);

inline Policy policy_of(const Definition& definition) {
  const Result<Policy, Fault> policy = compile(definition);
  INFO((policy.has_error() ? policy.error().message : ""));
  REQUIRE(policy.has_value());
  return *policy;
}

inline Duration retry_of(const Decision& decision) {
  if (decision.allowed) return passed;
  return decision.retry_after.value_or(never);
}

template <class State>
void run(const Policy& policy, const std::vector<Row>& rows, State state = {}) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    const Decision decision = decide(policy, state, epoch + row.now, {.cost = row.cost});
    INFO("row " << i);
    CHECK(decision.allowed == row.allowed);
    CHECK(decision.limit == policy.capacity);
    CHECK(decision.remaining == row.remaining);
    CHECK(to_us(decision.reset_after) == to_us(row.reset_after));
    CHECK(to_us(retry_of(decision)) == to_us(row.retry_after));
    CHECK(to_us(decision.delay) == to_us(row.delay));
  }
}

/// A table where only the answer matters.
struct Answer {
  Duration now;
  std::int64_t cost;
  bool allowed;
};

template <class State>
void run(const Policy& policy, const std::vector<Answer>& rows, State state = {}) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO("row " << i);
    CHECK(decide(policy, state, epoch + rows[i].now, {.cost = rows[i].cost}).allowed ==
          rows[i].allowed);
  }
}

}  // namespace weir::rules::test
