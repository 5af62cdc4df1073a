#include "rules/concurrency.hpp"

#include "catch.hpp"
#include "sequence.hpp"

namespace weir::rules::test {

TEST_CASE("concurrency: a state alone admits up to the limit and is never used") {
  const Policy policy = policy_of({.algorithm = Algorithm::concurrency, .limit = 3});
  run<ConcurrencyState>(policy, {
                                    {seconds(0), 3, true, 3, {}, passed},
                                    {seconds(0), 3, true, 3, {}, passed},
                                    {seconds(0), 4, false, 3, {}, never},
                                    {seconds(0), 0, true, 3, {}, passed},
                                });
  const ConcurrencyState state;
  CHECK(admit(policy, state, epoch, {.cost = 9, .overdraft = true}).units == 3);
  CHECK(whole_at(policy, state) == Instant{});
}

}  // namespace weir::rules::test
