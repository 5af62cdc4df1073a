// The script of sliding_log: long logs in chunks, and requests that are rejected together.
#include <random>
#include <string>
#include <utility>

#include "catch.hpp"
#include "contract/store_model.hpp"
#include "redis/question_command.hpp"
#include "redis/script.hpp"
#include "unit/redis/redis_under_test.hpp"

namespace weir::redis::test {

using namespace store::test;
using rules::Algorithm;
using store::Claim;

namespace {

rules::Policy sliding_log(std::int64_t count, Duration per, bool count_rejected) {
  rules::Definition definition;
  definition.algorithm = Algorithm::sliding_log;
  definition.rates = {{.count = count, .per = per}};
  definition.count_rejected = count_rejected;
  return policy(definition);
}

}  // namespace

TEST_CASE("A sliding log is a list of chunks that never holds much more than the quota") {
  RedisUnderTest store;
  const auto limit = sliding_log(100, 10s, true);
  const auto key = store.key_of(claim(limit, 1));
  for (int i = 0; i < 1'000; ++i) {
    ask(store, epoch + Duration{i / 2}, {claim(limit, 1)});
    // 50 instants have 100 units; no chunk is kept of which nothing counts.
    REQUIRE(store.redis("LLEN", key)->integer <= 2);
  }
  CHECK(store.redis("TYPE", key)->str == std::string("list"));
  const Reply last = store.redis("LINDEX", key, "-1");
  // A mark, the total before, and entries of 16 bytes for each instant.
  CHECK(last->len % 16 == 9);
  CHECK(last->len <= 9 + 64 * 16);
  // A cost of the whole quota leaves nothing else.
  ask(store, epoch + 1s, {claim(limit, 1, 100)});
  ask(store, epoch + 2s, {claim(limit, 1, 100)});
  CHECK(store.redis("LLEN", key)->integer == 1);
  CHECK(store.redis("LINDEX", key, "0")->len == 25);
}

// A log as scripts write it, without asking 100,000 times: an entry each millisecond, and one of
// them with as many units as it takes to fill the quota.
TEST_CASE("A denial by a log of 100,000 entries reads few chunks") {
  RedisUnderTest store;
  const auto limit = sliding_log(100'000, 3'600s, false);
  const auto key = store.key_of(claim(limit, 1));
  const std::string fill =
      "local at, total, chunk = tonumber(ARGV[1]), 0, nil\n"
      "for i = 1, tonumber(ARGV[2]) do\n"
      "  if not chunk then chunk = struct.pack('<Bd', 163, total) end\n"
      "  total = total + (i == tonumber(ARGV[3]) and 100001 - tonumber(ARGV[2]) or 1)\n"
      "  chunk = chunk .. struct.pack('<dd', at + 1000 * i, total)\n"
      "  if i % 64 == 0 or i == tonumber(ARGV[2]) then\n"
      "    redis.call('RPUSH', KEYS[1], chunk)\n"
      "    chunk = nil\n"
      "  end\n"
      "end\n"
      "return redis.call('PEXPIRE', KEYS[1], 7200000)";
  const auto chunks_read = [&] {
    const std::string stats = store.redis.text(store.redis("INFO", "commandstats"));
    const std::string name = "cmdstat_lindex:calls=";
    return std::stoi(stats.substr(stats.find(name) + name.size()));
  };
  for (const auto& [entries, large] : {std::pair{100'000, 1}, {50'000, 10}, {50'000, 49'990}}) {
    store.redis("DEL", key);
    store.redis("EVAL", fill, "1", key, std::to_string(to_us(epoch)), std::to_string(entries),
                std::to_string(large));
    rules::SlidingLogState state;
    for (int i = 1; i <= entries; ++i)
      charge(limit, state, epoch + i * 1ms, i == large ? 100'001 - entries : 1);
    for (const Duration after : {101s, 3'601s, 3'640s}) {
      for (const std::int64_t cost : {1, 5, 300, 30'000, 70'000, 99'990, 100'000}) {
        CAPTURE(entries, large, to_us(after), cost);
        const auto expected = admit(limit, state, epoch + after, {.cost = cost});
        if (expected.allowed) continue;
        store.redis("CONFIG", "RESETSTAT");
        const Answer answer = ask(store, epoch + after, {claim(limit, 1, cost)});
        CHECK(answer.decisions[0].retry_after == expected.retry_after);
        // The first and the last, and two searches of at most twice the binary logarithm of 1,563.
        CHECK(chunks_read() <= 2 + 2 * 2 * 11);
      }
    }
  }
}

TEST_CASE("Requests that are rejected together are charged as one after the other") {
  Connection redis(shared_server());
  const std::string names[] = {"together", "apart", "beside"};
  const auto send = [&](std::span<const Claim> claims, Instant now, std::uint32_t repeats) {
    const std::string script = script_for(algorithms_of(claims), Clock::argument);
    std::string command;
    append_question(command, {ScriptName::By::text, script}, {"weir:", names}, claims, now,
                    repeats);
    Answer answer;
    answer.decisions.resize(claims.size(), rules::Decision{.limit = 1'000});
    REQUIRE(read_answer(*redis.send(command), answer.decisions, answer.admitted));
    return answer;
  };
  redis("FLUSHALL");
  std::mt19937_64 random(9);
  const auto beside = policy(Algorithm::gcra, 20, 10s);
  rules::Definition window;
  window.algorithm = Algorithm::fixed_window;
  window.rates = {{.count = 7, .per = 10s}};
  window.count_rejected = true;
  for (const rules::Policy& limit : {sliding_log(7, 10s, true), policy(window)}) {
    Instant now = epoch;
    for (int step = 0; step < 1'000; ++step) {
      now += Duration{static_cast<std::int64_t>(random() % 2'000'000)};
      const auto cost = static_cast<std::int64_t>(random() % 5) + 1;
      const auto repeats = static_cast<std::uint32_t>(random() % 4);
      const bool has_two = random() % 3 == 0;
      const auto claims_on = [&](std::uint32_t policy_id) {
        std::vector claims{claim(limit, 1, cost, policy_id)};
        if (has_two) claims.push_back(claim(beside, 2 + policy_id, 1, 2));
        return claims;
      };
      const Answer together = send(claims_on(0), now, repeats);
      Answer apart = send(claims_on(1), now, 0);
      for (std::uint32_t i = 0; !apart.admitted && i < repeats; ++i)
        apart = send(claims_on(1), now, 0);
      CAPTURE(to_string(limit.algorithm), step, cost, repeats, has_two);
      REQUIRE(together.admitted == apart.admitted);
      REQUIRE(together.decisions == apart.decisions);
    }
  }
}

// Logs of many chunks, whose searches start at both ends and in the middle; pauses expire a part of
// the log, and costs of all sizes make totals ascend unevenly.
TEST_CASE("A long sliding log decides as the rules do") {
  for (const bool count_rejected : {false, true}) {
    for (const std::uint64_t largest : {1, 3, 700}) {
      RedisUnderTest store;
      const auto limit = sliding_log(3'000, 3s, count_rejected);
      rules::SlidingLogState state;
      std::mt19937_64 random(largest);
      Instant now = epoch;
      for (int step = 0; step < walk_steps; ++step) {
        now += Duration{static_cast<std::int64_t>(random() % 300 == 0 ? random() % 3'500'000
                                                                      : random() % 1'500)};
        const auto usual = static_cast<std::int64_t>(random() % largest) + 1;
        const std::int64_t cost =
            random() % 10 == 0 ? static_cast<std::int64_t>(random() % 3'200) : usual;
        const bool looks = random() % 5 == 0 || cost > 1'000;
        CAPTURE(count_rejected, largest, step, cost, looks);
        if (looks) {
          // A denied demand without a charge: of a copy, by the same log.
          const auto same = sliding_log(3'000, 3s, false);
          const auto admission = admit(same, state, now, {.cost = cost});
          if (admission.allowed) continue;
          auto copy = state;
          REQUIRE(ask(store, now, {claim(same, 1, cost)}).decisions[0] ==
                  rules::decide(same, copy, now, {.cost = cost}));
          continue;
        }
        REQUIRE(ask(store, now, {claim(limit, 1, cost)}).decisions[0] ==
                rules::decide(limit, state, now, {.cost = cost}));
      }
      store.every_key_outlives_its_recovery();
    }
  }
}

}  // namespace weir::redis::test
