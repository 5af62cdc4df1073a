#include "limiter/policy.hpp"

#include "catch.hpp"

namespace weir::limiter {
namespace {

TEST_CASE("a policy has terms of its own under the plans that change it") {
  Policy policy;
  CHECK(policy.under(0) == nullptr);
  policy.planned = {{.plan = 1, .unlimited = false, .terms = {}},
                    {.plan = 4, .unlimited = true, .terms = {}}};
  CHECK(policy.under(0) == nullptr);
  CHECK(policy.under(1) == &policy.planned[0]);
  CHECK(policy.under(3) == nullptr);
  CHECK(policy.under(4) == &policy.planned[1]);
  CHECK(policy.under(5) == nullptr);
}

TEST_CASE("a cost is held if the response decides it, or if it is a slot") {
  Policy rate;
  rate.numbers.algorithm = rules::Algorithm::gcra;
  Policy slots;
  slots.numbers.algorithm = rules::Algorithm::concurrency;
  CHECK_FALSE(is_concurrency(rate));
  CHECK(is_concurrency(slots));
  Limit plain;
  Limit charged;
  charged.charge.emplace();
  CHECK_FALSE(holds_cost(plain, rate));
  CHECK(holds_cost(charged, rate));
  CHECK(holds_cost(plain, slots));
}

}  // namespace
}  // namespace weir::limiter
