// What a call has charged that is denied all the same (RateLimitCall::settle()).
#include <string>

#include "catch.hpp"
#include "store/link.hpp"
#include "unit/rls/call_fixture.hpp"

namespace weir::rls::test {
namespace {

TEST_CASE("A call that is denied by a look charges nothing") {
  for (const bool charges_each : {false, true}) {
    Service service(charges_each);
    service.limit("a", 5);
    service.limit("b", 1);
    service.policy_of(service.limit("s", 9)).shadow = true;
    service.ask({{{{"b", "1"}}, charges_each ? 2 : 1}});
    const std::vector<Asked> asked = {{{{"a", "1"}}, 2}, {{{"s", "1"}}, 3}, {{{"b", "1"}}, 0}};
    const Response& denied = service.ask(asked);
    CHECK(denied.overall_code == Code::over_limit);
    CHECK(codes(denied) == "OOX");
    CHECK(denied.statuses[0].limit_remaining == (charges_each ? 3 : 5));
    CHECK(denied.statuses[1].limit_remaining == (charges_each ? 6 : 9));
    for (const limiter::LimitVerdict& limit : service.verdict.limits)
      if (limit.policy->name == "d.a") CHECK(limit.decision.remaining == (charges_each ? 3 : 5));
    CHECK(service.ask({{{{"a", "1"}}, 0}}).statuses[0].limit_remaining == (charges_each ? 3 : 5));
    CHECK(service.ask({{{{"s", "1"}}, 0}}).statuses[0].limit_remaining == (charges_each ? 6 : 9));
  }
}

TEST_CASE("A call that is denied by quotas charges nothing") {
  Service service;
  auto& quota = service.limit("q", 1);
  quota.quota_mode = service.policy_of(quota).shadow = true;
  service.limit("a", 5);
  const std::vector<Asked> asked = {{{{"q", "1"}}}, {{{"a", "1"}}}};
  CHECK(service.ask(asked).statuses[1].limit_remaining == 4);
  const Response& denied = service.ask(asked);
  CHECK(denied.overall_code == Code::over_limit);
  CHECK(denied.statuses[1].limit_remaining == 4);
  CHECK(service.ask({{{{"a", "1"}}, 0}}).statuses[0].limit_remaining == 4);
}

/// Decides the first claim of a request as this instance alone would, and the others as Redis
/// would.
class PartlyLocal final : public store::Link {
 public:
  using store::Link::Link;
  std::optional<store::Result> acquire(store::Acquisition& acquisition,
                                       store::Completion& completion, Instant now) override {
    auto result = next_.acquire(acquisition, completion, now);
    result->decider = store::Decider::local;
    result->alone = 1;
    return result;
  }
  void settle(std::span<const store::Settlement> settlements, Instant) override {
    for (const store::Settlement& settlement : settlements)
      given_back += settlement.alone ? 'L' : 'R';
  }
  std::string given_back;
};

TEST_CASE("Charges are given back to the store that has them") {
  Service service;
  PartlyLocal partly_local(service.store);
  service.first_store = &partly_local;
  service.limit("a", 5);
  service.limit("b", 5);
  service.limit("c", 1);
  service.ask({{{{"c", "1"}}}});
  const Response& denied = service.ask({{{{"a", "1"}}, 2}, {{{"b", "1"}}, 3}, {{{"c", "1"}}, 0}});
  CHECK(denied.overall_code == Code::over_limit);
  CHECK(partly_local.given_back == "LR");
}

}  // namespace
}  // namespace weir::rls::test
