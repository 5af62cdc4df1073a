#include "limiter/key_traffic.hpp"

#include <span>

#include "catch.hpp"
#include "unit/http/allocations.hpp"
#include "unit/limiter/request_fixture.hpp"

namespace weir::limiter::test {
namespace {

const IpAddress traffic_client = *IpAddress::parse("192.0.2.9");

struct Traffic : Fixture {
  /// Decides a request, and counts its keys.
  Outcome send(Instant now = epoch) {
    const Verdict verdict = decide();
    count_keys(verdict, {.route = 1, .client = traffic_client, .arrived_at = now, .now = now},
               {.limiter = *limiter, .ids = ids, .given = given, .keys = keys});
    return verdict.outcome;
  }
  KeyCounts counted(KeyEvent event) {
    const TopCounts counts = keys.read(epoch);
    return merged(std::span<const KeyCounts>(counts.parts[static_cast<std::size_t>(event)]));
  }

  NameIds ids{.routes = {}, .identities = {7, 8, 9}};
  RetryAfterTable given{1};
  TopKeys keys{1};
};

}  // namespace

TEST_CASE("each limit of a request counts for its key, and a denial for those that deny") {
  Traffic traffic;
  traffic.limit(policy("narrow", gcra(1, 100s)), 0);
  traffic.limit(policy("wide", gcra(100, 100s)), 1);
  traffic.header("x-api-key", "k");
  CHECK(traffic.send() == Outcome::allowed);
  CHECK(traffic.send() == Outcome::denied);
  const KeyCounts requests = traffic.counted(KeyEvent::request);
  REQUIRE(requests.entries.size() == 2);
  for (const auto& entry : requests.entries) {
    CHECK(entry.count == 2);
    CHECK(entry.key.route_id == 1);
    CHECK(entry.note.identity_id == (entry.key.policy_id == 0 ? 7 : 8));
    CHECK(entry.note.client == traffic_client);
  }
  const KeyCounts denials = traffic.counted(KeyEvent::denial);
  REQUIRE(denials.entries.size() == 1);
  CHECK(denials.entries[0].key.policy_id == 0);
  CHECK(denials.entries[0].count == 1);
}

TEST_CASE("a shadow policy counts requests and no denials") {
  Traffic traffic;
  Policy shadow = policy("shadow", gcra(1, 100s));
  shadow.shadow = true;
  traffic.limit(std::move(shadow), 0);
  for (int i = 0; i < 3; ++i)
    CHECK(traffic.send() == Outcome::allowed);
  CHECK(traffic.counted(KeyEvent::request).total == 3);
  CHECK(traffic.counted(KeyEvent::denial).total == 0);
}

TEST_CASE("a request that no limit applies to has no key") {
  Traffic traffic;
  traffic.limit(policy("absent", gcra(1, 100s)), 1);
  CHECK(traffic.send() == Outcome::unlimited);
  CHECK(traffic.counted(KeyEvent::request).total == 0);
}

TEST_CASE("a request before the Retry-After of its key is an early retry, denied or not") {
  Traffic traffic;
  traffic.limit(policy("narrow", gcra(3, 100s)), 0);
  traffic.limit(policy("wide", gcra(100, 100s)), 0);
  CHECK(traffic.send() == Outcome::allowed);
  const Hash128 identity = traffic.counted(KeyEvent::request).entries.at(0).key.identity;
  traffic.given.give({.identity = identity, .policy_id = 0}, epoch, epoch + 2s);
  CHECK(traffic.send(epoch + 1s) == Outcome::allowed);
  CHECK(traffic.send(epoch + 1s) == Outcome::allowed);
  CHECK(traffic.send(epoch + 1s) == Outcome::denied);
  CHECK(traffic.send(epoch + 2s) == Outcome::denied);
  const KeyCounts early = traffic.counted(KeyEvent::early_retry);
  REQUIRE(early.entries.size() == 1);
  CHECK(early.entries[0].key.policy_id == 0);
  CHECK(early.entries[0].count == 3);
  CHECK(traffic.limiter->policies()[0].counters->early_retries.value() == 3);
  CHECK(traffic.limiter->policies()[1].counters->early_retries.value() == 0);
}

TEST_CASE("counting allocates nothing, whatever the keys are") {
  Traffic traffic;
  traffic.limit(policy("p", gcra(1, 100s)), 0);
  traffic.decide();
  Verdict verdict = traffic.decide();
  std::vector<LimitVerdict> limits(verdict.limits.begin(), verdict.limits.end());
  verdict.limits = limits;
  CHECK(allocations_in([&] {
          for (std::uint64_t i = 0; i < 10'000; ++i) {
            limits[0].identity = {.low = i, .high = ~i};
            const Instant now = epoch + i / 2'500 * 20s;  // through several intervals
            count_keys(verdict,
                       {.route = 0, .client = traffic_client, .arrived_at = now, .now = now},
                       {.limiter = *traffic.limiter,
                        .ids = traffic.ids,
                        .given = traffic.given,
                        .keys = traffic.keys});
          }
        }) == 0);
}

}  // namespace weir::limiter::test
