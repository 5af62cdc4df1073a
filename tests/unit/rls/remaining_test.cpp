// Random calls: what a response shows as left is what a call that charges nothing finds afterwards.
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "unit/rls/call_fixture.hpp"

namespace weir::rls::test {
namespace {

void use_algorithm(limiter::Policy& policy, rules::Algorithm algorithm) {
  policy.definition.algorithm = algorithm;
  policy.definition.anchor.reset();
  policy.definition.count_rejected = false;
  policy.numbers = rules::compile(policy.definition).value();
}

void add_limits(Service& service) {
  service.limit("plain", 10);
  service.limit("small", 3);
  service.limit("none", 0);
  auto& shadow = service.limit("shadow", 7);
  shadow.shadow_mode = service.policy_of(shadow).shadow = true;
  auto& quota = service.limit("quota", 6);
  quota.quota_mode = service.policy_of(quota).shadow = true;
  use_algorithm(service.policy_of(service.limit("gcra", 60)), rules::Algorithm::gcra);
}

const std::vector<std::string> keys = {"plain", "small", "none", "shadow", "quota", "gcra"};

std::vector<Asked> random_call(std::mt19937& random) {
  std::vector<Asked> asked;
  for (const std::string& key : keys) {
    if (random() % 3 != 0) continue;
    asked.push_back(
        {.entries = {{key, "1"}}, .hits = random() % 5, .is_negative = random() % 5 == 0});
  }
  if (asked.empty()) asked.push_back({.entries = {{"plain", "1"}}});
  return asked;
}

}  // namespace

TEST_CASE("A response shows what is left after its call") {
  for (const bool charges_each : {false, true}) {
    Service service(charges_each);
    add_limits(service);
    std::mt19937 random(11);
    for (int turn = 0; turn < 3000; ++turn) {
      if (random() % 4 == 0) service.now += std::chrono::seconds(random() % 20);
      const std::vector<Asked> asked = random_call(random);
      const Response response = service.ask(asked);
      REQUIRE(response.statuses.size() == asked.size());
      for (const limiter::LimitVerdict& limit : service.verdict.limits) {
        const auto same = std::ranges::find_if(asked, [&](const Asked& one) {
          return "d." + std::string(one.entries[0].key) == limit.policy->name;
        });
        REQUIRE(same != asked.end());
        const auto index = static_cast<std::size_t>(same - asked.begin());
        CHECK(response.statuses[index].limit_remaining == limit.decision.remaining);
      }
      for (std::size_t i = 0; i < asked.size(); ++i) {
        INFO("each " << charges_each << ", turn " << turn << ", " << asked[i].entries[0].key
                     << ", hits " << asked[i].hits.value_or(1) << ", back "
                     << asked[i].is_negative);
        const Asked look{.entries = asked[i].entries, .hits = 0};
        const std::uint32_t left = service.ask({look}, Method::check).statuses[0].limit_remaining;
        REQUIRE(response.statuses[i].limit_remaining == left);
      }
    }
  }
}

}  // namespace weir::rls::test
