// This instance's shares of the quotas.
#include "limiter/local_shares.hpp"

#include "catch.hpp"
#include "unit/limiter/request_fixture.hpp"

namespace weir::limiter::test {
namespace {

/// `q` units an hour; 12 of them under plan 0, no limit under plan 1.
Policy policy_of(const char* name, std::int64_t q, OnFailure on_failure) {
  rules::Definition window = gcra(q, 3'600s);
  window.algorithm = rules::Algorithm::fixed_window;
  Policy result = policy(name, window);
  result.on_failure = on_failure;
  window.rates[0].count = 12;
  result.planned = {
      {.plan = 0, .unlimited = false, .terms = {rules::compile(window).value(), "12"}},
      {.plan = 1, .unlimited = true, .terms = {}}};
  return result;
}

}  // namespace

TEST_CASE("Each of several instances has a share of the policies that decide locally") {
  const std::vector<Policy> policies{policy_of("local", 10, OnFailure::local),
                                     policy_of("open", 10, OnFailure::allow),
                                     policy_of("shut", 10, OnFailure::deny)};
  LocalShares shares(policies);
  struct Row {
    std::int64_t instances;
    std::int64_t own, planned, unlimited;  ///< of the policy that decides locally
  };
  for (const Row& row : {Row{1, 10, 12, 10},
                         {2, 5, 6, 5},
                         {3, 3, 4, 3},
                         {10, 1, 1, 1},
                         {4, 2, 3, 2},
                         {1, 10, 12, 10}}) {
    CAPTURE(row.instances);
    CHECK(shares.divide(row.instances).empty());
    CHECK(shares.of(0, 0).numbers.capacity == row.own);
    CHECK(shares.of(0, 1).numbers.capacity == row.planned);
    CHECK(shares.of(0, 2).numbers.capacity == row.unlimited);
    for (const std::size_t policy : {0, 1, 2}) {
      CHECK(shares.of(policy, 0).on_failure == policies[policy].on_failure);
      if (policy > 0) CHECK(shares.of(policy, 0).numbers == policies[policy].numbers);
    }
  }
}

TEST_CASE("A policy with fewer units than instances denies, and keeps its numbers for its holds") {
  const std::vector<Policy> policies{policy_of("few", 10, OnFailure::local),
                                     policy_of("many", 100, OnFailure::local)};
  LocalShares shares(policies);
  shares.divide(5);
  const LocalShare& few = shares.of(0, 0);
  CHECK(shares.divide(11) == std::vector<std::string>{"few"});
  CHECK(few.on_failure == OnFailure::deny);
  CHECK(few.numbers.capacity == 2);
  CHECK(shares.of(0, 1).on_failure == OnFailure::local);  // 12 units
  CHECK(shares.of(1, 0).numbers.capacity == 9);
  CHECK(shares.divide(11).empty());  // reported already
  CHECK(shares.divide(13) == std::vector<std::string>{"few", "many"});
  CHECK(shares.divide(10).empty());
  CHECK(&few == &shares.of(0, 0));
  CHECK(few.on_failure == OnFailure::local);
  CHECK(few.numbers.capacity == 1);
}

TEST_CASE("Numbers that no policy has are divided like its own") {
  const std::vector<Policy> policies{policy_of("local", 10, OnFailure::local),
                                     policy_of("allow", 10, OnFailure::allow)};
  const rules::Policy numbers = policy_of("other", 6, OnFailure::local).numbers;
  LocalShares shares(policies);
  CHECK(shares.share_of(policies[0], numbers).numbers.capacity == 6);
  shares.divide(4);
  CHECK(shares.share_of(policies[0], numbers).numbers.capacity == 1);
  CHECK(shares.share_of(policies[0], numbers).on_failure == OnFailure::local);
  CHECK(shares.share_of(policies[1], numbers).numbers.capacity == 6);
  shares.divide(7);
  CHECK(shares.share_of(policies[0], numbers).on_failure == OnFailure::deny);
}

}  // namespace weir::limiter::test
