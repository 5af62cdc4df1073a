#include "store/denial_memory.hpp"

#include "catch.hpp"
#include "store/circuit_breaker.hpp"
#include "unit/store/chain_fixture.hpp"

namespace weir::store::test {
namespace {

using rules::Algorithm;
using rules::Decision;

/// Ten units in a window: a reply of any level is possible.
const rules::Policy& window() {
  static const auto limit = policy(Algorithm::sliding_window, 10, 10s);
  return limit;
}

Claim key(std::uint64_t who, std::int64_t cost = 3, std::uint32_t policy_id = 0,
          std::uint32_t revision = 0) {
  Claim one = claim(window(), who, cost, policy_id);
  one.policy_revision = revision;
  return one;
}

Decision denied(std::optional<Duration> retry_after) {
  return {.allowed = false,
          .limit = 10,
          .remaining = 2,
          .reset_after = 1h,
          .more_after = retry_after.value_or(1h),
          .retry_after = retry_after};
}

const Decision admitted{
    .allowed = true, .limit = 10, .remaining = 3, .reset_after = 1h, .more_after = 1h};

DenialMemory::Reply reply(const Decision& decision, Duration sent = 0s, Duration answered = 0s,
                          bool charged = false) {
  return {.decision = decision,
          .exchange = {.sent_at = epoch + sent, .answered_at = epoch + std::max(sent, answered)},
          .charged = charged};
}

struct Memory : DenialMemory {
  explicit Memory(std::size_t sets = 16) : DenialMemory(sets, 1) {}
  void deny(const Claim& one, std::optional<Duration> retry_after, Duration sent = 0s) {
    const Decision decision = denied(retry_after);
    remember(one, reply(decision, sent));
  }
  bool has(const Claim& one, Duration at = 0s) const { return recall(one, epoch + at).has_value(); }
};

}  // namespace

TEST_CASE("A denial by another revision of the policy does not hold") {
  Memory memory;
  memory.deny(key(1), 1s);
  const auto changed = key(1, 3, 0, 1);
  CHECK(memory.has(key(1)));
  CHECK_FALSE(memory.has(changed));
  memory.deny(changed, 1s);
  CHECK(memory.has(key(1)));
  SECTION("a charge by one makes the state of the other unknown") {
    const Decision left = denied(1s);
    CHECK(memory.refresh(changed, reply(left, 1ms, 1ms, true)));
    CHECK_FALSE(memory.has(key(1), 1ms));
    CHECK(memory.has(changed, 1ms));
  }
  SECTION("a reset removes both") {
    memory.forget(changed.identity, changed.policy_id);
    CHECK_FALSE(memory.has(key(1)));
    CHECK_FALSE(memory.has(changed));
  }
}

TEST_CASE("A denial holds until the moment the same request may pass") {
  Memory memory;
  const Decision decision = denied(1s);
  memory.remember(key(1), reply(decision, 0ms, 10ms));
  struct Row {
    Duration at;
    bool known;
    Duration retry_after;
  };
  // The durations count from the answer, so none is too short; the expiry counts from the question.
  for (const Row& row :
       {Row{0ms, true, 1'010ms}, Row{10ms, true, 1s}, Row{110ms, true, 900ms},
        Row{999'999us, true, 10ms + 1us}, Row{1s, false, 0s}, Row{1h, false, 0s}}) {
    CAPTURE(to_us(row.at));
    const auto found = memory.recall(key(1), epoch + row.at);
    REQUIRE(found.has_value() == row.known);
    if (!row.known) continue;
    CHECK_FALSE(found->allowed);
    CHECK(found->limit == 10);
    CHECK(found->remaining == 2);
    CHECK(found->retry_after == row.retry_after);
  }
}

TEST_CASE("No state is used for longer than 5 s") {
  Memory memory;
  memory.deny(key(1), 1h);
  memory.deny(key(2, 11), std::nullopt);
  CHECK(memory.recall(key(1), epoch + 4'999'999us)->retry_after == 1h - 4'999'999us);
  CHECK_FALSE(memory.has(key(1), 5s));
  // A request that can never pass has no retry time.
  REQUIRE(memory.has(key(2, 11), 4'999'999us));
  CHECK_FALSE(memory.recall(key(2, 11), epoch + 4'999'999us)->retry_after.has_value());
  CHECK_FALSE(memory.has(key(2, 11), 5s));
}

TEST_CASE("A state is of one key, and decides about any cost") {
  Memory memory(1);
  memory.deny(key(1, 3, 0), 1s);
  CHECK_FALSE(memory.recall(key(1, 3, 0), epoch)->allowed);
  CHECK(memory.recall(key(1, 2, 0), epoch)->allowed);
  CHECK_FALSE(memory.recall(key(1, 11, 0), epoch)->retry_after.has_value());
  CHECK_FALSE(memory.has(key(1, 3, 1)));
  CHECK_FALSE(memory.has(key(2, 3, 0)));
}

TEST_CASE("A reset removes a key, and no other") {
  Memory memory(1);
  memory.deny(key(1, 3, 0), 1s);
  memory.deny(key(1, 3, 1), 1s);
  memory.deny(key(2, 3, 0), 1s);
  memory.forget(key(1).identity, 0);
  CHECK_FALSE(memory.has(key(1, 3, 0)));
  CHECK(memory.has(key(1, 3, 1)));
  CHECK(memory.has(key(2, 3, 0)));
}

TEST_CASE("The memory is bounded: the denial that expires first is replaced") {
  Memory memory(1);
  for (std::uint64_t who = 1; who <= 4; ++who)
    memory.deny(key(who), who == 3 ? 500ms : 2s);
  memory.deny(key(9), 1s);
  for (std::uint64_t who = 1; who <= 4; ++who)
    CHECK(memory.has(key(who)) == (who != 3));
  CHECK(memory.has(key(9)));
}

TEST_CASE("An admission is replaced before a denial") {
  Memory memory(1);
  memory.remember(key(1), reply(admitted));
  for (std::uint64_t who = 2; who <= 5; ++who)
    memory.deny(key(who), 100ms);
  CHECK_FALSE(memory.has(key(1)));
  for (std::uint64_t who = 2; who <= 5; ++who)
    CHECK(memory.has(key(who)));
}

TEST_CASE("A later answer replaces an earlier one, and is not kept alone") {
  Memory memory;
  CHECK_FALSE(memory.refresh(key(1), reply(admitted)));
  CHECK_FALSE(memory.has(key(1)));
  memory.deny(key(1), 2s);
  memory.deny(key(1), 1s, 100ms);
  CHECK_FALSE(memory.has(key(1), 1'100ms));
  CHECK(memory.refresh(key(1), reply(admitted, 200ms)));
  const auto found = memory.recall(key(1), epoch + 300ms);
  REQUIRE(found.has_value());
  CHECK(found->allowed);
  CHECK(found->remaining == 3);
  CHECK(found->reset_after == 1h - 100ms);
}

TEST_CASE("After a change of overrides nothing from before is used, nor added to what follows") {
  DenialMemory memory(16, 1, 250ms);
  const Decision decision = denied(1h);
  Decision level = decision;
  level.more_after = 1s;
  memory.remember(key(1, 5), reply(level));
  REQUIRE(memory.recall(key(1, 5), epoch + 100ms).has_value());
  SECTION("while its lease lasts, a reply about another cost keeps it") {
    level.reset_after -= 100ms;
    level.retry_after = 1s;
    memory.remember(key(1, 3), reply(level, 100ms));
    CHECK(memory.recall(key(1, 5), epoch + 100ms).has_value());
  }
  SECTION("a change discards it") {
    memory.discard(epoch + 50ms);
    CHECK_FALSE(memory.recall(key(1, 5), epoch + 100ms).has_value());
    memory.remember(key(1, 3), reply(level, 100ms));
    CHECK(memory.recall(key(1, 3), epoch + 100ms).has_value());
    CHECK_FALSE(memory.recall(key(1, 5), epoch + 100ms).has_value());
  }
}

TEST_CASE("The flight that asks has a place with a denial that expired lately, and nowhere else") {
  FakeStore remote;
  ChainCounters counters;
  Memory memory;
  KnownDenials known(memory, counters);
  BreakerCounters breaker_counters;
  const CircuitBreaker breaker(remote, {.timeout = 5s, .failures = 1, .retry_after = 1s},
                               breaker_counters);
  SingleFlight link(remote, {.memory = memory, .known = known, .remote = breaker, .timeout = 1s});
  Flight first(link);
  Flight second(link);
  const auto place = [&](const Claim& one, Duration at) { return memory.asking(one, epoch + at); };
  CHECK(place(key(1), 0s) == nullptr);
  memory.deny(key(1), 1s);
  CHECK(place(key(1), 6s) == nullptr);
  CHECK(place(key(1, 2), 1s) == nullptr);  // enough is left for it
  CHECK(place(key(2), 1s) == nullptr);
  REQUIRE(place(key(1), 999'999us) != nullptr);  // it may ask for another limit of a request
  REQUIRE(place(key(1), 5'999'999us) != nullptr);
  *place(key(1), 1s) = &first;
  CHECK(*place(key(1), 2s) == &first);
  const auto its_key = DenialMemory::key_of(key(1));
  SECTION("only the flight itself ends it") {
    memory.land(its_key, second);
    CHECK(*place(key(1), 2s) == &first);
    memory.land(its_key, first);
    REQUIRE(place(key(1), 2s) != nullptr);
    CHECK(*place(key(1), 2s) == nullptr);
  }
  SECTION("an answer that leaves enough ends the denial, and keeps the flight of others") {
    CHECK(memory.refresh(key(1), reply(admitted, 1s)));
    CHECK(place(key(1), 2s) == nullptr);
    CHECK(*place(key(1, 4), 2s) == &first);
  }
  SECTION("a reset removes it") {
    memory.forget(key(1).identity, 0);
    memory.land(its_key, first);
    CHECK(place(key(1), 2s) == nullptr);
  }
}

TEST_CASE("A denied key causes few questions about other limits") {
  Memory memory;
  memory.deny(key(1), 1h);
  CHECK(memory.may_ask_for_others(key(1), epoch));
  for (int i = 0; i < DenialMemory::questions_limit; ++i) {
    CHECK(memory.may_ask_for_others(key(1), epoch + 10ms));
    memory.count_question(key(1), epoch + 10ms);
  }
  memory.deny(key(1), 1h, 11ms);  // the replies do not bring more
  CHECK_FALSE(memory.may_ask_for_others(key(1), epoch + 10ms));
  CHECK(memory.may_ask_for_others(key(2), epoch + 10ms));
  const Duration later = 10ms + DenialMemory::questions_interval;
  CHECK_FALSE(memory.may_ask_for_others(key(1), epoch + later - 1us));
  CHECK(memory.may_ask_for_others(key(1), epoch + later));
  memory.count_question(key(1), epoch + later);
  CHECK(memory.may_ask_for_others(key(1), epoch + later));
}

}  // namespace weir::store::test
