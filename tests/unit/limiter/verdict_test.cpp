#include "limiter/verdict.hpp"

#include <vector>

#include "catch.hpp"

namespace weir::limiter {
namespace {

using namespace std::literals;

LimitVerdict limit(const Policy& policy, const rules::Decision& decision) {
  return {.policy = &policy, .terms = &policy, .decision = decision, .cost = 1, .identity = {}};
}

rules::Decision allowed(std::int64_t remaining, Duration delay = 0s) {
  return {.allowed = true, .limit = 10, .remaining = remaining, .delay = delay};
}

rules::Decision denied(std::optional<Duration> retry_after) {
  return {.allowed = false, .limit = 10, .retry_after = retry_after};
}

Policy named(const char* name, bool is_shadow = false) {
  Policy policy;
  policy.name = name;
  policy.shadow = is_shadow;
  return policy;
}

const Policy first = named("first");
const Policy second = named("second");
const Policy shadow = named("shadow", true);

}  // namespace

TEST_CASE("An admitted request is decided by the limit closest to exhaustion") {
  const std::vector<LimitVerdict> limits{limit(first, allowed(5)), limit(second, allowed(4)),
                                         limit(shadow, allowed(1))};
  const Verdict verdict = verdict_of(limits, true, Decider::redis);
  CHECK(verdict.outcome == Outcome::allowed);
  CHECK(verdict.decider == Decider::redis);
  CHECK(verdict.deciding == &second);
  CHECK_FALSE(verdict.shadow_denied);
  CHECK_FALSE(verdict.retry_after);
  CHECK(verdict.limits.data() == limits.data());
}

TEST_CASE("An admitted request waits for the longest queue of the limits that are enforced") {
  const std::vector<LimitVerdict> limits{
      limit(first, allowed(5, 1s)), limit(second, allowed(5, 3s)), limit(first, allowed(5, 2s)),
      limit(shadow, allowed(5, 9s))};
  CHECK(verdict_of(limits, true, Decider::memory).delay == 3s);
}

TEST_CASE("A shadow policy that denies is reported, whatever the outcome") {
  const std::vector<LimitVerdict> admitted{limit(first, allowed(5)), limit(shadow, denied(9s))};
  const Verdict verdict = verdict_of(admitted, true, Decider::memory);
  CHECK(verdict.outcome == Outcome::allowed);
  CHECK(verdict.shadow_denied);
  CHECK(verdict.deciding == &first);
  CHECK_FALSE(violated(admitted[1]));
  const std::vector<LimitVerdict> rejected{limit(shadow, denied(9s)), limit(first, denied(1s))};
  CHECK(verdict_of(rejected, false, Decider::memory).shadow_denied);
  CHECK(verdict_of(rejected, false, Decider::memory).retry_after == 1s);
  const std::vector<LimitVerdict> alone{limit(shadow, denied({}))};
  CHECK(verdict_of(alone, true, Decider::memory).deciding == nullptr);
}

TEST_CASE("A denied request is decided by the violated policy with the latest retry") {
  struct Row {
    std::optional<Duration> first, second;
    const Policy* deciding;
    std::optional<Duration> retry_after;
  };
  const Row rows[] = {
      {2s, 1s, &first, 2s},  {1s, 2s, &second, 2s}, {2s, 2s, &first, 2s},
      {2s, {}, &second, {}}, {{}, 2s, &first, {}},  {{}, {}, &first, {}},
  };
  for (const Row& row : rows) {
    const std::vector<LimitVerdict> limits{limit(first, denied(row.first)),
                                           limit(second, denied(row.second))};
    const Verdict verdict = verdict_of(limits, false, Decider::local);
    CHECK(verdict.outcome == Outcome::denied);
    CHECK(verdict.decider == Decider::local);
    CHECK(verdict.deciding == row.deciding);
    CHECK(verdict.retry_after == row.retry_after);
  }
}

TEST_CASE("An allowed limit that counted the denied request is waited for, unless it is a shadow") {
  rules::Decision counted = allowed(0);
  counted.retry_after = 5s;
  const auto retry_after = [&](const Policy& policy, std::optional<Duration> of_the_denial) {
    const std::vector<LimitVerdict> limits{
        limit(policy, counted), limit(second, denied(of_the_denial)), limit(first, allowed(3))};
    const Verdict verdict = verdict_of(limits, false, Decider::memory);
    CHECK(verdict.deciding == &second);
    return verdict.retry_after;
  };
  CHECK(retry_after(first, 2s) == 5s);
  CHECK(retry_after(first, 7s) == 7s);
  CHECK(retry_after(first, {}) == std::nullopt);
  CHECK(retry_after(shadow, 2s) == 2s);
}

TEST_CASE("An override that denies forbids the request, unless its policy is a shadow") {
  rules::Decision forbids = denied({});
  forbids.override_effect = rules::OverrideEffect::denied;
  const std::vector<LimitVerdict> limits{limit(first, denied(3s)), limit(second, forbids)};
  const Verdict verdict = verdict_of(limits, false, Decider::redis);
  CHECK(verdict.outcome == Outcome::forbidden);
  CHECK(verdict.deciding == &second);
  CHECK(verdict.retry_after == std::nullopt);
  const std::vector<LimitVerdict> shadows{limit(first, denied(3s)), limit(shadow, forbids)};
  CHECK(verdict_of(shadows, false, Decider::redis).outcome == Outcome::denied);
  CHECK(verdict_of(std::span(shadows).last(1), true, Decider::redis).outcome == Outcome::allowed);
}

}  // namespace weir::limiter
