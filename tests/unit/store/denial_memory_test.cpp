#include "store/denial_memory.hpp"

#include <map>
#include <random>
#include <tuple>
#include <utility>

#include "catch.hpp"
#include "contract/store_model.hpp"
#include "unit/store/chain_fixture.hpp"

namespace weir::store::test {
namespace {

using rules::Algorithm;
using rules::Decision;

DenialMemory::Key key(std::uint64_t who, std::int64_t cost = 1, std::uint32_t policy_id = 0) {
  return {.identity = {.low = who, .high = who}, .policy_id = policy_id, .cost = cost};
}

Decision denied(std::optional<Duration> retry_after) {
  return {.allowed = false,
          .limit = 10,
          .remaining = 2,
          .reset_after = 4s,
          .more_after = 300ms,
          .retry_after = retry_after};
}

struct ByParts {
  bool operator()(const DenialMemory::Key& a, const DenialMemory::Key& b) const {
    return std::tie(a.identity, a.policy_id, a.cost) < std::tie(b.identity, b.policy_id, b.cost);
  }
};

}  // namespace

TEST_CASE("A denial by another revision of the policy does not hold") {
  DenialMemory memory(16, 1);
  memory.remember(key(1), denied(1s), epoch, epoch);
  auto changed = key(1);
  changed.revision = 1;
  CHECK(memory.recall(key(1), epoch).has_value());
  CHECK_FALSE(memory.recall(changed, epoch).has_value());
  memory.remember(changed, denied(1s), epoch, epoch);
  memory.forget(changed.identity, changed.policy_id);
  CHECK_FALSE(memory.recall(key(1), epoch).has_value());
  CHECK_FALSE(memory.recall(changed, epoch).has_value());
}

TEST_CASE("A denial holds until the moment the same request may pass") {
  DenialMemory memory(16, 1);
  memory.remember(key(1), denied(1s), epoch, epoch + 10ms);
  struct Row {
    Duration at;
    bool known;
    Duration retry_after, reset_after, more_after;
  };
  // The durations count from the answer, so none is too short; the expiry counts from the question.
  for (const Row& row : {Row{0ms, true, 1s, 4s, 300ms}, Row{10ms, true, 1s, 4s, 300ms},
                         Row{110ms, true, 900ms, 3'900ms, 200ms},
                         Row{310ms, true, 700ms, 3'700ms, 1us},  // more is there, but not all
                         Row{999'999us, true, 10ms + 1us, 3'010ms + 1us, 1us},
                         Row{1s, false, 0s, 0s, 0s}, Row{1h, false, 0s, 0s, 0s}}) {
    CAPTURE(to_us(row.at));
    const auto decision = memory.recall(key(1), epoch + row.at);
    REQUIRE(decision.has_value() == row.known);
    if (!row.known) continue;
    CHECK_FALSE(decision->allowed);
    CHECK(decision->limit == 10);
    CHECK(decision->remaining == 2);
    CHECK(decision->retry_after == row.retry_after);
    CHECK(decision->reset_after == row.reset_after);
    CHECK(decision->more_after == row.more_after);
  }
}

TEST_CASE("No denial is kept for longer than 5 s") {
  DenialMemory memory(16, 1);
  memory.remember(key(1), denied(1h), epoch, epoch);
  memory.remember(key(2), denied(std::nullopt), epoch, epoch);
  CHECK(memory.recall(key(1), epoch + 4'999'999us)->retry_after == 1h - 4'999'999us);
  CHECK_FALSE(memory.recall(key(1), epoch + 5s).has_value());
  // A request that can never pass has no retry time.
  REQUIRE(memory.recall(key(2), epoch + 4'999'999us).has_value());
  CHECK_FALSE(memory.recall(key(2), epoch + 4'999'999us)->retry_after.has_value());
  CHECK_FALSE(memory.recall(key(2), epoch + 5s).has_value());
}

TEST_CASE("A denial is of one key and one cost") {
  DenialMemory memory(1, 1);
  memory.remember(key(1, 3, 0), denied(1s), epoch, epoch);
  CHECK(memory.recall(key(1, 3, 0), epoch).has_value());
  CHECK_FALSE(memory.recall(key(1, 2, 0), epoch).has_value());
  CHECK_FALSE(memory.recall(key(1, 4, 0), epoch).has_value());
  CHECK_FALSE(memory.recall(key(1, 3, 1), epoch).has_value());
  CHECK_FALSE(memory.recall(key(2, 3, 0), epoch).has_value());
}

TEST_CASE("Resetting a key forgets every cost of it, and no other key") {
  DenialMemory memory(1, 1);
  memory.remember(key(1, 1, 0), denied(1s), epoch, epoch);
  memory.remember(key(1, 5, 0), denied(1s), epoch, epoch);
  memory.remember(key(1, 1, 1), denied(1s), epoch, epoch);
  memory.remember(key(2, 1, 0), denied(1s), epoch, epoch);
  memory.forget(key(1).identity, 0);
  CHECK_FALSE(memory.recall(key(1, 1, 0), epoch).has_value());
  CHECK_FALSE(memory.recall(key(1, 5, 0), epoch).has_value());
  CHECK(memory.recall(key(1, 1, 1), epoch).has_value());
  CHECK(memory.recall(key(2, 1, 0), epoch).has_value());
}

TEST_CASE("The memory is bounded: the denial that expires first is replaced") {
  DenialMemory memory(1, 1);
  for (std::uint64_t who = 1; who <= 4; ++who)
    memory.remember(key(who), denied(who == 3 ? 500ms : 2s), epoch, epoch);
  memory.remember(key(9), denied(1s), epoch, epoch);
  for (std::uint64_t who = 1; who <= 4; ++who)
    CHECK(memory.recall(key(who), epoch).has_value() == (who != 3));
  CHECK(memory.recall(key(9), epoch).has_value());
}

TEST_CASE("An admission is replaced before a denial") {
  DenialMemory memory(1, 1);
  const Decision allowed{.allowed = true, .limit = 10, .remaining = 3, .reset_after = 1s};
  memory.remember(key(1), allowed, epoch, epoch);
  for (std::uint64_t who = 2; who <= 5; ++who)
    memory.remember(key(who), denied(100ms), epoch, epoch);
  CHECK_FALSE(memory.recall(key(1), epoch).has_value());
  for (std::uint64_t who = 2; who <= 5; ++who)
    CHECK(memory.recall(key(who), epoch).has_value());
}

TEST_CASE("A later answer replaces an earlier one") {
  DenialMemory memory(16, 1);
  memory.remember(key(1), denied(2s), epoch, epoch);
  memory.remember(key(1), denied(1s), epoch + 100ms, epoch + 100ms);
  CHECK_FALSE(memory.recall(key(1), epoch + 1'100ms).has_value());
  Decision allowed{.allowed = true, .limit = 10, .remaining = 3, .reset_after = 1s};
  memory.remember(key(1), allowed, epoch + 200ms, epoch + 200ms);
  const auto decision = memory.recall(key(1), epoch + 300ms);
  REQUIRE(decision.has_value());
  CHECK(decision->allowed);
  CHECK(decision->reset_after == 900ms);
  CHECK(decision->more_after == 0s);
}

TEST_CASE("The decision about the next such demand follows from an answer") {
  const auto admitted = [](std::int64_t remaining) {
    return Decision{.allowed = true,
                    .limit = 10,
                    .remaining = remaining,
                    .reset_after = 4s,
                    .more_after = 300ms,
                    .delay = 100ms};
  };
  // Enough is left: it passes.
  CHECK(decision_after(admitted(3), 3) == admitted(3));
  CHECK(decision_after(admitted(0), 0) == admitted(0));
  // One unit is missing: more_after is the retry time.
  for (const std::int64_t cost : {1, 3}) {
    Decision expected = admitted(cost - 1);
    expected.allowed = false;
    expected.delay = 0s;
    expected.retry_after = 300ms;
    CHECK(decision_after(admitted(cost - 1), cost) == expected);
  }
  // More are missing: it is denied, and the retry time is unknown.
  CHECK_FALSE(decision_after(admitted(1), 3).has_value());
  CHECK(decision_after(denied(1s), 3) == denied(1s));
  CHECK(decision_after(denied(std::nullopt), 30) == denied(std::nullopt));
}

// For any state: the denial that follows from an admission is the one of the rules, to the last
// microsecond, and then they admit.
TEST_CASE("The denial that follows from an admission is that of the rules") {
  std::vector<rules::Policy> policies;
  for (const Algorithm algorithm : algorithms) {
    policies.push_back(policy(algorithm, 7, 3s));
    policies.push_back(policy(algorithm, 3, 700ms));
    policies.push_back(policy(algorithm, 1, 1s));
  }
  rules::Definition tiers;
  tiers.algorithm = Algorithm::sliding_window;
  tiers.rates = {{.count = 3, .per = 1s}, {.count = 20, .per = 30s}, {.count = 100, .per = 300s}};
  policies.push_back(policy(tiers));
  rules::Definition leaky;
  leaky.algorithm = Algorithm::leaky_bucket;
  leaky.rates = {{.count = 7, .per = 3s}};
  leaky.queue = 5;
  leaky.max_delay = 1'000'001us;  // ends in the middle of an interval
  policies.push_back(policy(leaky));
  rules::Definition burst;
  burst.rates = {{.count = 7, .per = 3s}};
  burst.burst = 12;
  policies.push_back(policy(burst));
  burst.algorithm = Algorithm::token_bucket;
  policies.push_back(policy(burst));

  for (std::size_t i = 0; i < policies.size(); ++i) {
    const rules::Policy& policy = policies[i];
    CAPTURE(to_string(policy.algorithm), i);
    std::mt19937_64 random(i);
    StoreModel store;
    Instant now = epoch;
    int followed = 0;
    for (int step = 0; step < 3'000; ++step) {
      now += Duration{static_cast<std::int64_t>(random() % 400'000)};
      const auto cost = static_cast<std::int64_t>(random() % 4);
      const auto one = claim(policy, 1, cost);
      const auto answer = ask(store, now, {one});
      const auto next = decision_after(answer.decisions[0], cost);
      if (!answer.admitted || (next && next->allowed)) continue;
      auto same_store = store;
      const auto denial = ask(same_store, now, {one});
      REQUIRE_FALSE(denial.admitted);
      if (!next) continue;
      ++followed;
      REQUIRE(*next == denial.decisions[0]);
      const Duration retry_after = next->retry_after.value();
      const auto some = Duration{static_cast<std::int64_t>(random()) & 0x7fff'ffff} % retry_after;
      for (const Duration after : {some, retry_after - 1us}) {
        auto later_store = store;
        REQUIRE_FALSE(ask(later_store, now + after, {one}).admitted);
      }
      auto later_store = store;
      REQUIRE(ask(later_store, now + retry_after, {one}).admitted);
    }
    CHECK(followed > 50);
  }
}

TEST_CASE("The flight that asks has a place with a denial that expired lately, and nowhere else") {
  FakeStore remote;
  ChainCounters counters;
  DenialMemory memory(16, 1);
  KnownDenials known(memory, counters);
  const CircuitBreaker breaker(remote, Breaker(1, 1s), counters);
  SingleFlight link(remote, {.memory = memory, .known = known, .breaker = breaker, .timeout = 1s});
  Flight first(link);
  Flight second(link);
  CHECK(memory.asking(key(1), epoch) == nullptr);
  memory.remember(key(1), denied(1s), epoch, epoch);
  CHECK(memory.asking(key(1), epoch + 999'999us) == nullptr);
  CHECK(memory.asking(key(1), epoch + 6s) == nullptr);
  CHECK(memory.asking(key(1, 2), epoch + 1s) == nullptr);
  REQUIRE(memory.asking(key(1), epoch + 1s) != nullptr);
  *memory.asking(key(1), epoch + 1s) = &first;
  CHECK(*memory.asking(key(1), epoch + 2s) == &first);
  SECTION("only the flight itself ends it") {
    memory.land(key(1), second, true);
    CHECK(*memory.asking(key(1), epoch + 2s) == &first);
    memory.land(key(1), first, false);
    REQUIRE(memory.asking(key(1), epoch + 2s) != nullptr);
    CHECK(*memory.asking(key(1), epoch + 2s) == nullptr);
  }
  SECTION("an answer that leaves enough removes the denial") {
    memory.land(key(1), first, true);
    CHECK(memory.asking(key(1), epoch + 2s) == nullptr);
  }
  SECTION("another denial removes it") {
    memory.remember(key(1), denied(1s), epoch + 1s, epoch + 1s);
    memory.land(key(1), first, true);
    CHECK(memory.recall(key(1), epoch + 1s).has_value());
    CHECK(*memory.asking(key(1), epoch + 2s) == nullptr);
  }
  SECTION("so does a reset") {
    memory.forget(key(1).identity, 0);
    memory.land(key(1), first, false);
    CHECK(memory.asking(key(1), epoch + 2s) == nullptr);
  }
}

// Random requests at random times, with a store that has another clock and executes some time after
// it is asked. The store denies each request that the memory denies, also until its retry time.
TEST_CASE("Nothing is denied from memory that the store would admit") {
  for (const Algorithm algorithm : algorithms) {
    const std::uint64_t seed = 7 + static_cast<std::uint64_t>(algorithm);
    CAPTURE(to_string(algorithm), seed);
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t bound) {
      return Duration{static_cast<std::int64_t>(random() % bound)};
    };
    const std::vector policies{policy(algorithm, 7, 3s), policy(algorithm, 3, 700ms),
                               policy(algorithm, 5, 60s)};
    StoreModel store;
    DenialMemory memory(4, seed);
    const Duration skew = 1'234'567us;  // of the store's clock
    Instant now = epoch;
    int recalled = 0;
    std::map<std::pair<Hash128, std::uint32_t>, Instant> charged_at;  // on our clock
    std::map<DenialMemory::Key, Instant, ByParts> answered_at;
    for (int step = 0; step < 20'000; ++step) {
      now += below(step % 100 == 0 ? 3'000'000 : 20'000);
      const auto id = static_cast<std::uint32_t>(random() % policies.size());
      const auto one =
          claim(policies[id], random() % 3, static_cast<std::int64_t>(random() % 9), id);
      const DenialMemory::Key key{
          .identity = one.identity, .policy_id = id, .cost = one.demand.cost};
      const auto remembered = memory.recall(key, now);
      if (remembered && !remembered->allowed) {
        ++recalled;
        auto same_store = store;
        REQUIRE_FALSE(ask(same_store, now + skew, {one}).admitted);
        const bool others_came = charged_at[{key.identity, id}] > answered_at[key];
        if (!remembered->retry_after || others_came) continue;
        auto later_store = store;
        REQUIRE(ask(later_store, now + skew + *remembered->retry_after, {one}).admitted);
        continue;
      }
      const Instant sent_at = now;
      const Instant executed_at = sent_at + below(5'000);
      now = executed_at + below(5'000);
      const auto answer = ask(store, executed_at + skew, {one});
      if (const auto next = decision_after(answer.decisions[0], key.cost))
        memory.remember(key, *next, sent_at, now);
      answered_at[key] = now;
      if (answer.admitted) charged_at[{key.identity, id}] = now;
    }
    CHECK(recalled > 1'000);
  }
}

}  // namespace weir::store::test
