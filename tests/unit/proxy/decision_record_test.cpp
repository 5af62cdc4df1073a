#include "proxy/decision_record.hpp"

#include "catch.hpp"
#include "unit/http/lines_of.hpp"

namespace weir::proxy {
namespace {

using namespace std::chrono_literals;
using limiter::LimitVerdict;
using limiter::Outcome;

limiter::Policy policy(const std::string& name) {
  limiter::Policy policy;
  policy.name = name;
  policy.policy_item = http::policy_item(name, 9, 60s);
  policy.name_item = http::name_item(name);
  return policy;
}

/// A limit of 9 units, of which `remaining` are left.
LimitVerdict verdict(const limiter::Policy& policy, bool allowed, std::int64_t remaining) {
  LimitVerdict limit;
  limit.policy = &policy;
  limit.terms = &policy;
  limit.cost = 2;
  limit.identity = {.low = static_cast<std::uint64_t>(remaining), .high = 1};
  limit.decision.allowed = allowed;
  limit.decision.limit = 9;
  limit.decision.remaining = remaining;
  limit.decision.reset_after = 60s;
  return limit;
}

const std::vector<identity::Definition> identities{{.name = "user", .source = {}}};

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("a record keeps what the answer and the log need of the verdict") {
  const limiter::Policy one = policy("one"), two = policy("two");
  const LimitVerdict limits[] = {verdict(one, true, 7), verdict(two, true, 3)};
  DecisionRecord record;
  record.take({.outcome = Outcome::allowed,
               .decider = limiter::Decider::local,
               .shadow_denied = true,
               .delay = 5ms,
               .deciding = &two,
               .limits = limits},
              {}, identities);
  CHECK(record.outcome == Outcome::allowed);
  CHECK(record.decider == limiter::Decider::local);
  CHECK(record.shadow_denied);
  CHECK(record.delay == 5ms);
  CHECK_FALSE(record.retry_after);
  CHECK(record.policy == &two);
  CHECK(record.cost == 2);
  CHECK(record.remaining == 3);
  CHECK(record.identity == limits[1].identity);
  REQUIRE(record.others.size() == 1);
  CHECK((record.others[0].policy == "one" && record.others[0].identity == limits[0].identity));
  CHECK((record.others[0].identity_kind == "user" && record.others[0].cost == 2));
  CHECK_FALSE(record.others[0].reserved);
  CHECK(record.violated.empty());
  CHECK(holds(http::lines_of(record.limit_fields), "RateLimit: \"one\";r=7"));
  CHECK(holds(http::lines_of(record.limit_fields), "\"two\";r=3"));
}

TEST_CASE("while this instance decides alone, all fields describe its share") {
  const limiter::Policy shared = policy("shared");
  LimitVerdict limit = verdict(shared, true, 3);
  limit.decision.limit = 4;
  DecisionRecord record;
  const auto fields_of = [&](limiter::Decider decider, std::optional<Duration> refill) {
    limit.decision.refill = refill;
    record.clear();
    record.take({.outcome = Outcome::allowed,
                 .decider = decider,
                 .deciding = &shared,
                 .limits = {&limit, 1}},
                {}, identities);
    return http::lines_of(record.limit_fields);
  };
  CHECK(
      holds(fields_of(limiter::Decider::local, 30s), "RateLimit-Policy: \"shared\";q=4;w=30\r\n"));
  CHECK(holds(fields_of(limiter::Decider::redis, {}), "RateLimit-Policy: \"shared\";q=9;w=60\r\n"));
  limit.decision.override_effect = rules::OverrideEffect::numbers;
  CHECK(holds(fields_of(limiter::Decider::local, 5s), "RateLimit-Policy: \"shared\";q=4;w=5\r\n"));
}

TEST_CASE("the quota of a concurrency policy is that of its share or override") {
  limiter::Policy slots = policy("slots");
  slots.policy_item = "\"slots\";q=9;qu=\"concurrent-requests\"";
  slots.numbers.refill = Duration{0};
  LimitVerdict limit = verdict(slots, true, 3);
  limit.decision.limit = 4;
  const auto fields_of = [&](limiter::Decider decider, std::optional<Duration> refill) {
    limit.decision.refill = refill;
    DecisionRecord record;
    record.take({.outcome = Outcome::allowed,
                 .decider = decider,
                 .deciding = &slots,
                 .limits = {&limit, 1}},
                {}, identities);
    return http::lines_of(record.limit_fields);
  };
  const std::string unit = ";qu=\"concurrent-requests\"\r\n";
  CHECK(holds(fields_of(limiter::Decider::redis, {}), "\"slots\";q=9" + unit));
  CHECK(holds(fields_of(limiter::Decider::local, 0s), "\"slots\";q=4" + unit));
  limit.decision.override_effect = rules::OverrideEffect::numbers;
  CHECK(holds(fields_of(limiter::Decider::redis, 0s), "\"slots\";q=4" + unit));
}

TEST_CASE("only visible, enforced policies are named as violated") {
  const limiter::Policy visible = policy("visible");
  limiter::Policy hidden = policy("hidden");
  hidden.visible = false;
  limiter::Policy shadow = policy("shadow");
  shadow.shadow = true;
  const limiter::Policy kept = policy("kept");
  const LimitVerdict limits[] = {verdict(visible, false, 0), verdict(hidden, false, 0),
                                 verdict(shadow, false, 0), verdict(kept, true, 4)};
  DecisionRecord record;
  record.take(
      {.outcome = Outcome::denied, .retry_after = 7s, .deciding = &hidden, .limits = limits}, {},
      identities);
  CHECK(record.violated == std::vector<std::string_view>{"visible"});
  CHECK(record.retry_after == Duration(7s));
  CHECK(record.policy == &hidden);
  CHECK(record.identity == limits[1].identity);
  CHECK(holds(http::lines_of(record.limit_fields), "\"kept\";r=4"));
  CHECK_FALSE(holds(http::lines_of(record.limit_fields), "hidden"));
}

TEST_CASE("a verdict without limits has no fields") {
  DecisionRecord record;
  record.take({.outcome = Outcome::identity_required}, {}, identities);
  CHECK(record.outcome == Outcome::identity_required);
  CHECK(record.limit_fields.empty());
  CHECK(record.policy == nullptr);
  CHECK_FALSE(record.identity);
}

TEST_CASE("clear() leaves nothing of the last decision") {
  const limiter::Policy one = policy("one");
  const LimitVerdict limits[] = {verdict(one, false, 7)};
  const identity::Source source{identity::FromQuery{"key"}};
  DecisionRecord record;
  record.take({.outcome = Outcome::denied,
               .decider = limiter::Decider::redis,
               .shadow_denied = true,
               .delay = 5ms,
               .retry_after = 7s,
               .deciding = &one,
               .ambiguity = {.source = &source},
               .limits = limits},
              {}, identities);
  record.others = {{.policy = "two"}};
  record.took = 3ms;
  record.clear();
  CHECK(record.others.empty());
  CHECK(record.outcome == Outcome::unlimited);
  CHECK(record.decider == limiter::Decider::memory);
  CHECK(record.ambiguity.source == nullptr);
  CHECK_FALSE(record.shadow_denied);
  CHECK(record.policy == nullptr);
  CHECK_FALSE(record.identity);
  CHECK(record.cost == 0);
  CHECK(record.remaining == 0);
  CHECK(record.delay == 0s);
  CHECK(record.took == 0s);
  CHECK_FALSE(record.retry_after);
  CHECK(record.limit_fields.empty());
  CHECK(record.violated.empty());
}

}  // namespace
}  // namespace weir::proxy
