#include "rls/rate_limit_call.hpp"

#include <limits>

#include "catch.hpp"
#include "unit/rls/call_fixture.hpp"

namespace weir::rls::test {

TEST_CASE("Descriptors have their statuses in order, and no limit means OK") {
  Service service;
  service.limit("a", 1);
  service.limit("b", 2);
  const std::vector<Asked> asked = {{{{"b", "1"}}}, {{{"none", "1"}}}, {{{"a", "1"}}}};
  const Response& first = service.ask(asked);
  CHECK(first.overall_code == Code::ok);
  REQUIRE(first.statuses.size() == 3);
  CHECK(codes(first) == "OOO");
  CHECK(first.statuses[0].current_limit->requests_per_unit == 2);
  CHECK(first.statuses[0].current_limit->unit == RateLimitUnit::minute);
  CHECK(first.statuses[0].limit_remaining == 1);
  CHECK(first.statuses[0].duration_until_reset == 30s);  // the minute of the clock ends then
  CHECK_FALSE(first.statuses[1].current_limit);
  CHECK(first.statuses[1].limit_remaining == 0);
  CHECK(first.statuses[2].limit_remaining == 0);

  const Response& second = service.ask(asked);
  CHECK(second.overall_code == Code::over_limit);
  CHECK(codes(second) == "OOX");
  CHECK(second.statuses[0].limit_remaining == 1);  // not charged: another limit denied
  CHECK(second.dynamic_metadata.policy == "d.a");
  service.now += 30s;
  CHECK(service.ask(asked).overall_code == Code::ok);
}

TEST_CASE("Each descriptor is charged by itself if the configuration says so") {
  Service service(true);
  service.limit("a", 1);
  service.limit("b", 3);
  const std::vector<Asked> asked = {{{{"b", "1"}}}, {{{"a", "1"}}}};
  CHECK(codes(service.ask(asked)) == "OO");
  CHECK(codes(service.ask(asked)) == "OX");
  CHECK(codes(service.ask(asked)) == "OX");
  CHECK(codes(service.ask(asked)) == "XX");
}

TEST_CASE("The hits are those of the descriptor, else those of the request, at least 1") {
  Service service;
  service.limit("a", 10);
  const auto remaining = [&](const Asked& asked, std::uint32_t hits) {
    return service.ask({asked}, Method::decide, hits).statuses[0].limit_remaining;
  };
  CHECK(remaining({{{"a", "1"}}}, 0) == 9);
  CHECK(remaining({{{"a", "1"}}}, 3) == 6);
  CHECK(remaining({{{"a", "1"}}, 2}, 3) == 4);
  CHECK(remaining({{{"a", "1"}}, 0}, 3) == 4);  // looks
  CHECK(remaining({{{"a", "1"}}, 4}, 0) == 0);
  CHECK(codes(service.ask({{{{"a", "1"}}, 0}})) == "X");  // nothing is left
}

TEST_CASE("Hits beyond exact numbers are denied, and use up the limit") {
  Service service;
  service.limit("a", 10);
  CHECK(codes(service.ask({{{{"a", "1"}}, std::numeric_limits<std::uint64_t>::max()}})) == "X");
  CHECK(codes(service.ask({{{{"a", "1"}}}})) == "X");
}

TEST_CASE("A limit that denies several hits is used up, and others are not charged") {
  Service service;
  service.limit("a", 10);
  service.limit("b", 10);
  CHECK(codes(service.ask({{{{"a", "1"}}, 7}, {{{"b", "1"}}, 7}})) == "OO");
  CHECK(codes(service.ask({{{{"a", "1"}}, 5}, {{{"b", "1"}}, 1}})) == "XO");
  CHECK(codes(service.ask({{{{"a", "1"}}, 1}})) == "X");
  CHECK(service.ask({{{{"b", "1"}}, 0}}).statuses[0].limit_remaining == 3);
  service.now += 30s;
  CHECK(service.ask({{{{"a", "1"}}, 0}}).statuses[0].limit_remaining == 10);
}

TEST_CASE("A shadow limit is counted, and its descriptor is OK") {
  Service service;
  service.policy_of(service.limit("a", 1)).shadow = true;
  CHECK(codes(service.ask({{{{"a", "1"}}}})) == "O");
  const Response& denied = service.ask({{{{"a", "1"}}}});
  CHECK(denied.overall_code == Code::ok);
  CHECK(denied.statuses[0].code == Code::ok);
  CHECK(denied.statuses[0].limit_remaining == 0);
  CHECK(denied.dynamic_metadata.empty());
  CHECK(service.call.verdict(service.now).shadow_denied);
}

TEST_CASE("Quotas deny a request only if all of them do") {
  Service service(true);
  for (const char* key : {"a", "b"}) {
    auto& limit = service.limit(key, key[0] == 'a' ? 1 : 2);
    limit.quota_mode = true;
    service.policy_of(limit).shadow = true;
  }
  const std::vector<Asked> asked = {{{{"a", "1"}}}, {{{"b", "1"}}}};
  CHECK(codes(service.ask(asked)) == "OO");
  const Response& one = service.ask(asked);
  CHECK(codes(one) == "XO");
  CHECK(one.overall_code == Code::ok);
  const Response& both = service.ask(asked);
  CHECK(codes(both) == "XX");
  CHECK(both.overall_code == Code::over_limit);
  CHECK(both.dynamic_metadata.policy == "d.a");
  CHECK(service.verdict.outcome == limiter::Outcome::denied);
  CHECK(service.verdict.retry_after == 30s);
}

TEST_CASE("A quota that denies several hits is used up") {
  Service service;
  auto& limit = service.limit("a", 10);
  limit.quota_mode = service.policy_of(limit).shadow = true;
  service.limit("b", 100);
  const std::vector<Asked> asked = {{{{"a", "1"}}, 7}, {{{"b", "1"}}, 1}};
  CHECK(codes(service.ask(asked)) == "OO");
  CHECK(codes(service.ask(asked)) == "XO");
  CHECK(codes(service.ask({{{{"a", "1"}}, 1}})) == "X");
}

TEST_CASE("A denied call gives nothing back") {
  Service service;
  service.limit("a", 5);
  service.limit("b", 1);
  service.ask({{{{"a", "1"}}, 5}});
  CHECK(codes(service.ask({{{{"a", "1"}}, 3, true}, {{{"b", "1"}}, 2}})) == "OX");
  CHECK(service.ask({{{{"a", "1"}}, 0}}).statuses[0].limit_remaining == 0);
  CHECK(codes(service.ask({{{{"a", "1"}}, 1, true}, {{{"a", "1"}}}})) == "OX");
}

TEST_CASE("A limit that has been used up is shown as it is") {
  Service service;
  limiter::Policy& bucket = service.policy_of(service.limit("a", 60));
  bucket.definition.algorithm = rules::Algorithm::gcra;
  bucket.definition.anchor.reset();
  bucket.numbers = rules::compile(bucket.definition).value();
  CHECK(service.ask({{{{"a", "1"}}, 57}}).statuses[0].limit_remaining == 3);
  const Response& denied = service.ask({{{{"a", "1"}}, 5}});
  CHECK(codes(denied) == "X");
  CHECK(denied.statuses[0].limit_remaining == 0);
  CHECK(denied.statuses[0].duration_until_reset == 60s);
  REQUIRE(service.verdict.limits.size() == 1);
  CHECK(service.verdict.limits[0].decision.remaining == 0);
  CHECK(service.verdict.retry_after == 5s);
  service.now += 5s - 1us;
  CHECK(codes(service.ask({{{{"a", "1"}}, 5}}, Method::check)) == "X");
  service.now += 1us;
  CHECK(codes(service.ask({{{{"a", "1"}}, 5}})) == "O");
}

TEST_CASE("Hits that do not fit into a sliding window may fit when it is whole") {
  Service service;
  limiter::Policy& sliding = service.policy_of(service.limit("a", 10));
  sliding.definition.algorithm = rules::Algorithm::sliding_window;
  sliding.definition.anchor.reset();
  sliding.numbers = rules::compile(sliding.definition).value();
  service.ask({{{{"a", "1"}}, 7}});
  service.now += 30s;
  CHECK(codes(service.ask({{{{"a", "1"}}, 9}})) == "X");
  REQUIRE(service.verdict.retry_after);
  service.now += *service.verdict.retry_after;
  CHECK(codes(service.ask({{{{"a", "1"}}, 9}})) == "O");
}

TEST_CASE("A check of hits that do not fit shows what is left") {
  Service service;
  service.limit("a", 10);
  service.ask({{{{"a", "1"}}, 7}});
  const Response& denied = service.ask({{{{"a", "1"}}, 5}}, Method::check);
  CHECK(codes(denied) == "X");
  CHECK(denied.statuses[0].limit_remaining == 3);
  CHECK(service.verdict.limits[0].decision.remaining == 3);
}

TEST_CASE("A shadow limit is used up by hits that do not fit") {
  Service service;
  auto& limit = service.limit("a", 10);
  limit.shadow_mode = service.policy_of(limit).shadow = true;
  CHECK(service.ask({{{{"a", "1"}}, 7}}).statuses[0].limit_remaining == 3);
  const Response& denied = service.ask({{{{"a", "1"}}, 5}});
  CHECK(codes(denied) == "O");
  CHECK(denied.statuses[0].limit_remaining == 0);
  service.ask({{{{"a", "1"}}}});
  CHECK(service.verdict.shadow_denied);
}

TEST_CASE("A refund shows what is left") {
  Service service;
  service.limit("a", 5);
  service.limit("b", 1);
  service.ask({{{{"a", "1"}}, 5}});
  // Denied, so nothing is given back.
  const Response& denied = service.ask({{{{"a", "1"}}, 3, true}, {{{"b", "1"}}, 2}});
  CHECK(denied.statuses[0].limit_remaining == 0);
  CHECK(service.verdict.limits[0].decision.remaining == 0);
  CHECK(service.ask({{{{"a", "1"}}, 3, true}}).statuses[0].limit_remaining == 3);
  CHECK(service.ask({{{{"a", "1"}}, 0}}).statuses[0].limit_remaining == 3);
}

TEST_CASE("A refund of a limit that counts denied hits shows what is left") {
  Service service(true);
  service.limit("a", 10);
  service.limit("b", 1);
  const auto left = [&](std::uint64_t hits, bool is_negative = false) {
    return service.ask({{{{"a", "1"}}, hits, is_negative}}).statuses[0].limit_remaining;
  };
  CHECK(left(8) == 2);
  CHECK(left(7) == 0);        // 15 of 10
  CHECK(left(3, true) == 0);  // 12
  CHECK(left(0) == 0);
  CHECK(left(4, true) == 2);
  CHECK(service.verdict.limits[0].decision.limit == 10);
  CHECK(left(0) == 2);
  // The call is denied, and the hits are given back all the same.
  CHECK(codes(service.ask({{{{"a", "1"}}, 1, true}, {{{"b", "1"}}, 2}})) == "OX");
  CHECK(left(0) == 3);
  CHECK(left(std::numeric_limits<std::uint64_t>::max(), true) == 10);
  CHECK(left(0) == 10);
}

TEST_CASE("Outcomes are counted as they are answered") {
  Service service;
  service.limit("a", 1);
  const auto counters = [&]() -> const limiter::PolicyCounters& {
    return *service.limiter->policies()[1].counters;
  };
  service.ask({{{{"a", "1"}}}});
  CHECK(counters().allowed.value() == 1);
  service.ask({{{{"a", "1"}}, 0}});  // a look
  CHECK(counters().denied.value() == 1);
  service.ask({{{{"a", "1"}}}}, Method::check);
  CHECK(counters().denied.value() == 1);
  CHECK(counters().allowed.value() == 1);
}

TEST_CASE("Negative hits are given back under the numbers in force") {
  Service service;
  service.limit("a", 10);
  const std::size_t own = service.add_policy("own", 2, RateLimitUnit::hour);
  limiter::PlannedTerms paid;
  paid.terms.definition = {.algorithm = rules::Algorithm::fixed_window,
                           .rates = {{.count = 50, .per = 24h}},
                           .anchor = rules::Anchor::clock};
  paid.terms.numbers = rules::compile(paid.terms.definition).value();
  service.limits.policies[own].planned = {paid};
  service.limits.plans.names = {"paid"};
  service.limits.plans.default_plan = 0;
  service.options.descriptors = {
      {.domain = "d", .entries = {{.key = "p"}}, .policy = own, .key = {"p"}}};
  for (const std::string key : {"a", "p"}) {
    const std::uint32_t limit = key == "a" ? 10 : 50;
    CHECK(service.ask({{{{key, "1"}}, 8}}).statuses[0].limit_remaining == limit - 8);
    CHECK(service.ask({{{{key, "1"}}, 3, true}}).statuses[0].limit_remaining == limit - 5);
    CHECK(codes(service.ask({{{{key, "1"}}, 100, true}})) == "O");
    CHECK(service.ask({{{{key, "1"}}, 0}}).statuses[0].limit_remaining == limit);
    service.now += 24h;
  }
}

TEST_CASE("Shadow mode is stronger than quota mode") {
  Service service;
  auto& limit = service.limit("a", 1);
  limit.quota_mode = limit.shadow_mode = true;
  service.policy_of(limit).shadow = true;
  CHECK(codes(service.ask({{{{"a", "1"}}}})) == "O");
  const Response& denied = service.ask({{{{"a", "1"}}}});
  CHECK(codes(denied) == "O");
  CHECK(denied.overall_code == Code::ok);
}

TEST_CASE("A limit can be unlimited, 0, or replace others") {
  Service service;
  service.limit("free", 1).policy.reset();
  service.limit("none", 0);
  service.limit("base", 1).name = "base";
  service.limit("more", 5).replaces = {"base"};
  const Response& free = service.ask({{{{"free", "1"}}}});
  CHECK(codes(free) == "O");
  CHECK(free.statuses[0].limit_remaining == std::numeric_limits<std::uint32_t>::max());
  CHECK_FALSE(free.statuses[0].current_limit);

  const Response& none = service.ask({{{{"none", "1"}}}, {{{"base", "1"}}}});
  CHECK(codes(none) == "XO");
  CHECK(none.statuses[0].current_limit->requests_per_unit == 0);

  const std::vector<Asked> asked = {{{{"base", "1"}}}, {{{"more", "1"}}}};
  for (int i = 0; i < 5; ++i) {
    const Response& replaced = service.ask(asked);
    CHECK(codes(replaced) == "OO");
    CHECK_FALSE(replaced.statuses[0].current_limit);
  }
  CHECK(codes(service.ask(asked)) == "OX");
  CHECK(codes(service.ask({{{{"base", "1"}}}})) == "O");
}

TEST_CASE("A limit of 0 is reset with the window of its unit, whatever decides") {
  for (const bool charges_each : {false, true}) {
    Service service(charges_each);
    service.limit("none", 0, RateLimitUnit::hour);
    limiter::Policy& gcra = service.policy_of(service.limit("gcra", 0, RateLimitUnit::hour));
    gcra.definition.algorithm = rules::Algorithm::gcra;
    gcra.definition.anchor.reset();
    gcra.definition.count_rejected = false;
    gcra.numbers = rules::compile(gcra.definition).value();
    const Asked stated{{{"a", "1"}}, {}, false, StatedLimit{0, RateLimitUnit::hour}};
    const std::vector<Asked> asked = {{{{"none", "1"}}}, {{{"gcra", "1"}}}, stated};
    service.ask(asked);
    const Response& answer = service.ask(asked);
    CHECK(codes(answer) == std::string(3, 'X'));
    for (const DescriptorStatus& status : answer.statuses)
      CHECK(status.duration_until_reset == 2790s);
    for (const limiter::LimitVerdict& limit : service.verdict.limits)
      CHECK(limit.decision.reset_after == *answer.statuses[0].duration_until_reset);
    CHECK_FALSE(service.verdict.retry_after);  // a request is never admitted
  }
}

TEST_CASE("A check charges nothing, and a report charges whatever is left") {
  Service service;
  service.limit("a", 10);
  CHECK(codes(service.ask({{{{"a", "1"}}, 10}}, Method::check)) == "O");
  CHECK(codes(service.ask({{{{"a", "1"}}, 11}}, Method::check)) == "X");
  CHECK(codes(service.ask({{{{"a", "1"}}, 8}}, Method::report)) == "O");
  CHECK(codes(service.ask({{{{"a", "1"}}, 3}}, Method::check)) == "X");
  CHECK(codes(service.ask({{{{"a", "1"}}, 2}}, Method::check)) == "O");
  CHECK(codes(service.ask({{{{"a", "1"}}, 5}}, Method::report)) == "O");
  CHECK(codes(service.ask({{{{"a", "1"}}}}, Method::check)) == "X");
}

TEST_CASE("A policy of the configuration limits descriptors beside the files") {
  Service service;
  const std::size_t policy = service.add_policy("own", 2, RateLimitUnit::hour);
  service.limit("a", 5);
  service.options.descriptors = {
      {.domain = "d", .entries = {{.key = "a"}}, .policy = policy, .key = {"a"}}};
  const Response& first = service.ask({{{{"a", "1"}}}});
  CHECK(first.statuses[0].current_limit->name == "own");  // less is left of it
  CHECK(first.statuses[0].current_limit->unit == RateLimitUnit::hour);
  CHECK(codes(service.ask({{{{"a", "1"}}}})) == "O");
  CHECK(codes(service.ask({{{{"a", "1"}}}})) == "X");
  CHECK(codes(service.ask({{{{"a", "2"}}}})) == "O");
}

TEST_CASE("The metadata of limits that admit are in the response") {
  Service service;
  service.limit("a", 1).metadata = R"({"tier":"gold"})";
  const DynamicMetadata& metadata = service.ask({{{{"a", "1"}}}}).dynamic_metadata;
  REQUIRE(metadata.limits.size() == 1);
  CHECK(metadata.limits.front()->json == R"({"tier":"gold"})");
  CHECK(metadata.policy.empty());
  service.ask({{{{"a", "1"}}}});
  CHECK(metadata.limits.empty());
  CHECK(metadata.policy == "d.a");
}

TEST_CASE("A call is overridden if an override decides one of its limits") {
  using store::Override;
  const bool charges_each = GENERATE(false, true);
  const auto kind =
      GENERATE(Override::Kind::numbers, Override::Kind::denied, Override::Kind::unlimited);
  Service service(charges_each);
  service.limit("a", 3);
  service.limit("b", 3);
  const std::vector<Asked> asked = {{{{"a", "1"}}}, {{{"b", "1"}}}};
  service.ask(asked);
  CHECK_FALSE(service.call.is_overridden());
  REQUIRE(service.verdict.limits.size() == 2);
  service.store.overrides().put(service.verdict.limits[1].identity,
                                {.kind = kind, .numbers = service.limits.policies[0].numbers},
                                service.now, [](const auto&) {});
  service.ask(asked);
  CHECK(service.call.is_overridden());
  service.ask({{{{"a", "1"}}}});
  CHECK_FALSE(service.call.is_overridden());
}

}  // namespace weir::rls::test
