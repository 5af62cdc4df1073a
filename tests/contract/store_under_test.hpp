// What the store contract needs of a store, and short ways to write claims.
//
// Every store runs the same cases: it implements StoreUnderTest, with the instant given by the
// case, and starts each case empty.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "rules/rules.hpp"
#include "store/claim.hpp"

namespace weir::store::test {

using namespace std::chrono_literals;

class StoreUnderTest {
 public:
  virtual ~StoreUnderTest() = default;
  virtual bool acquire(std::span<const Claim> claims, Instant now,
                       std::span<rules::Decision> decisions) = 0;
  virtual void forget(const Hash128& identity, std::uint32_t policy_id) = 0;
};

/// A whole second that starts a window of 1, 3 or 10 s.
inline const Instant epoch = instant_from_us(1'700'000'010'000'000);

inline rules::Policy policy(const rules::Definition& definition) {
  return rules::compile(definition).value();
}

inline rules::Policy policy(rules::Algorithm algorithm, std::int64_t count, Duration per) {
  rules::Definition definition;
  definition.algorithm = algorithm;
  definition.rates = {{.count = count, .per = per}};
  if (algorithm == rules::Algorithm::leaky_bucket) {
    definition.queue = count - 1;
    definition.max_delay = per;
  }
  return policy(definition);
}

inline constexpr rules::Algorithm algorithms[] = {
    rules::Algorithm::fixed_window,   rules::Algorithm::attributed_window,
    rules::Algorithm::sliding_window, rules::Algorithm::sliding_log,
    rules::Algorithm::token_bucket,   rules::Algorithm::gcra,
    rules::Algorithm::leaky_bucket};

inline Claim claim(const rules::Policy& policy, std::uint64_t who, std::int64_t cost = 1,
                   std::uint32_t policy_id = 0) {
  Claim result;
  result.policy = &policy;
  result.identity = {.low = who * 0x9e3779b97f4a7c15, .high = who};
  result.policy_id = policy_id;
  result.demand.cost = cost;
  return result;
}

struct Answer {
  bool admitted = false;
  std::vector<rules::Decision> decisions;
};

inline Answer ask(StoreUnderTest& store, Instant now, const std::vector<Claim>& claims) {
  Answer answer;
  answer.decisions.resize(claims.size());
  answer.admitted = store.acquire(claims, now, answer.decisions);
  return answer;
}

}  // namespace weir::store::test
