#include "limiter/evaluation.hpp"

#include "catch.hpp"

namespace weir::limiter {
namespace {

TEST_CASE("an evaluation that is cleared has nothing of the previous request") {
  Evaluation evaluation;
  const std::string plan = "gold";
  evaluation.claims.emplace_back();
  evaluation.policies.emplace_back();
  evaluation.decisions.resize(3);
  evaluation.token_refusal.emplace();
  evaluation.limits.emplace_back();
  evaluation.is_overridden = true;
  evaluation.has_holds = evaluation.may_wait = true;
  evaluation.waits_for = 0;
  evaluation.held_back = {.claim = 0, .cost = 2};
  evaluation.plan = &plan;
  evaluation.clear();
  CHECK(evaluation.claims.empty());
  CHECK(evaluation.policies.empty());
  CHECK(evaluation.decisions.size() == 3);  // the store writes them again
  CHECK_FALSE(evaluation.token_refusal);
  CHECK(evaluation.limits.empty());
  CHECK_FALSE(evaluation.is_overridden);
  CHECK_FALSE(evaluation.has_holds);
  CHECK_FALSE(evaluation.may_wait);
  CHECK_FALSE(evaluation.waits_for);
  CHECK_FALSE(evaluation.held_back);
  CHECK(evaluation.plan == nullptr);
}

}  // namespace
}  // namespace weir::limiter
