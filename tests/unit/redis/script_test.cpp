#include "redis/script.hpp"

#include "catch.hpp"
#include "contract/hold_contract.hpp"
#include "contract/random_requests.hpp"
#include "redis/lua_parts.hpp"
#include "unit/redis/redis_under_test.hpp"

namespace weir::redis::test {

using namespace store::test;
using rules::Algorithm;
using store::Claim;
using store::Override;

namespace {

/// The model of one key after another, with the clock that each key stores.
void agrees_with_a_clock_of_its_own(const rules::Policy& limit, int steps) {
  RedisUnderTest store;
  rules::with_state_of(limit.algorithm, [&](auto state) {
    std::mt19937_64 random(5);
    Instant now = epoch;
    Instant latest{};
    for (int step = 0; step < steps; ++step) {
      now += Duration{static_cast<std::int64_t>(random() % 400'000)};
      if (random() % 20 == 0) now -= 3s;
      const auto cost = static_cast<std::int64_t>(random() % 3);
      const Answer answer = ask(store, now, {claim(limit, 1, cost)});
      const Instant read_as = std::max(now, latest);
      const auto before = state;
      const auto expected = rules::decide(limit, state, read_as, {.cost = cost});
      if (!(before == state)) latest = read_as;
      CAPTURE(to_string(limit.algorithm), step);
      REQUIRE(answer.decisions[0] == expected);
    }
  });
  store.every_key_outlives_its_recovery();
}

rules::Policy bucket(Algorithm algorithm, std::int64_t count, Duration per, std::int64_t burst) {
  rules::Definition definition;
  definition.algorithm = algorithm;
  definition.rates = {{.count = count, .per = per}};
  definition.burst = burst;
  return policy(definition);
}

/// Policies at the edges of what compile() accepts.
std::vector<rules::Policy> extreme_policies() {
  constexpr Duration month = 31 * 24h;
  std::vector<rules::Policy> policies;
  for (const auto algorithm : algorithms) {
    const bool list =
        algorithm == Algorithm::sliding_log || algorithm == Algorithm::attributed_window;
    policies.push_back(policy(algorithm, list ? 100'000 : 1'000'000, 1s));
    policies.push_back(policy(algorithm, 1, month));
    policies.push_back(policy(algorithm, 999'983 % (list ? 100'000 : 1'000'000), 20ms));
  }
  policies.push_back(policy(Algorithm::sliding_window, 1 << 26, 10s));
  policies.push_back(policy(Algorithm::fixed_window, (std::int64_t{1} << 52) - 1, 26'000 * 24h));
  policies.push_back(bucket(Algorithm::gcra, 1'000'003, 1s, 4'000'000'000));
  policies.push_back(bucket(Algorithm::token_bucket, 1'000'003, 1s, 4'000'000'000));
  policies.push_back(bucket(Algorithm::gcra, 7, 31 * 24h, 5'000));
  policies.push_back(bucket(Algorithm::token_bucket, 7, 31 * 24h, 5'000));
  return policies;
}

rules::Policy tiers(std::vector<rules::Rate> rates) {
  rules::Definition definition;
  definition.algorithm = Algorithm::sliding_window;
  definition.rates = std::move(rates);
  return policy(definition);
}

}  // namespace

TEST_CASE("A clock that steps back is read as the instant a key was last charged at") {
  for (const auto algorithm : algorithms)
    agrees_with_a_clock_of_its_own(policy(algorithm, 7, 3s), walk_steps / 10);
}

TEST_CASE("The largest and the smallest rates are as exact in Lua") {
  for (const auto& limit : extreme_policies()) {
    RedisUnderTest store;
    StoreModel model;
    std::mt19937_64 random(3);
    Instant now = epoch;
    const auto most = static_cast<std::uint64_t>(limit.capacity);
    // Exactness ends 71 years after this century (docs/algorithms.md).
    constexpr std::int64_t last_us = std::int64_t{1} << 52;
    for (int step = 0; step < 150 && to_us(now) < last_us; ++step) {
      now += Duration{static_cast<std::int64_t>(
          random() % (2 * static_cast<std::uint64_t>(to_us(limit.refill)) / 7 + 3))};
      const auto cost = static_cast<std::int64_t>(random() % (step % 3 == 0 ? most + 2 : 3));
      CAPTURE(to_string(limit.algorithm), limit.capacity, to_us(limit.refill), step, cost);
      const std::vector claims{claim(limit, 1, cost)};
      const Answer answer = ask(store, now, claims);
      const Answer expected = ask(model, now, claims);
      REQUIRE(answer.decisions == expected.decisions);
      if (step % 30 == 0) store.every_key_outlives_its_recovery();
    }
  }
}

TEST_CASE("Tiers, aligned windows and a short max_delay answer as the model does") {
  std::vector<rules::Policy> policies{
      tiers({{10, 1s}, {25, 5s}, {40, 15s}}),
      tiers({{5, 700ms}, {12, 3s}, {30, 60s}, {31, 61s}, {40, 90s}, {41, 2min}}),
      policy({.algorithm = Algorithm::fixed_window,
              .rates = {{7, 3s}},
              .anchor = rules::Anchor::clock}),
      policy({.algorithm = Algorithm::attributed_window,
              .rates = {{7, 3s}},
              .anchor = rules::Anchor::clock}),
      policy(
          {.algorithm = Algorithm::leaky_bucket, .rates = {{7, 3s}}, .queue = 9, .max_delay = 1s}),
  };
  RedisUnderTest store;
  agrees_with_model(store, policies, {.seed = 13, .identities = 10, .steps = walk_steps / 2});
  store.every_key_outlives_its_recovery();
}

TEST_CASE("Neither looks nor denied requests write") {
  for (const auto algorithm : algorithms) {
    CAPTURE(to_string(algorithm));
    RedisUnderTest store;
    const auto limit = policy(algorithm, 2, 60s);
    ask(store, epoch, {claim(limit, 1, 0)});
    CHECK_FALSE(ask(store, epoch, {claim(limit, 1, 3)}).admitted);
    CHECK(store.size() == 0);
    ask(store, epoch, {claim(limit, 1, 2)});
    const auto key = store.key_of(claim(limit, 1));
    const std::string kept = store.redis.text(store.redis("DUMP", key));
    CHECK_FALSE(ask(store, epoch + 1us, {claim(limit, 1)}).admitted);
    ask(store, epoch + 2us, {claim(limit, 1, 0)});
    // One of two claims denies: the other takes nothing.
    const std::vector both{claim(limit, 2, 1, 1), claim(limit, 1, 1, 0)};
    CHECK_FALSE(ask(store, epoch + 3us, both).admitted);
    CHECK(store.size() == 1);
    CHECK(store.redis.text(store.redis("DUMP", key)) == kept);
  }
}

TEST_CASE("A key that only denies lives as long as a policy that was lengthened asks for") {
  for (const auto algorithm :
       {Algorithm::fixed_window, Algorithm::attributed_window, Algorithm::sliding_window,
        Algorithm::sliding_log, Algorithm::token_bucket}) {
    CAPTURE(to_string(algorithm));
    const auto limit = policy(algorithm, 2, 60s);
    const auto longer = policy(algorithm, 2, 3600s);
    const auto charged = [&](RedisUnderTest& store) {
      ask(store, epoch, {claim(limit, 1, 2)});
      ask(store, epoch + 1s, {claim(limit, 1, 0)});
    };
    RedisUnderTest alone;
    charged(alone);
    CHECK_FALSE(ask(alone, epoch + 1s, {claim(longer, 1)}).admitted);
    alone.every_key_outlives_its_recovery();
    // The count has not changed, also under the former policy.
    RedisUnderTest unasked;
    charged(unasked);
    const Answer as_before = ask(unasked, epoch + 2s, {claim(limit, 1)});
    charged(alone);
    ask(alone, epoch + 1s, {claim(longer, 1)});
    CHECK(ask(alone, epoch + 2s, {claim(limit, 1)}).decisions == as_before.decisions);
    // Among others, and when it is only looked at.
    RedisUnderTest among;
    charged(among);
    CHECK_FALSE(ask(among, epoch + 1s, {claim(limit, 2, 1, 1), claim(longer, 1)}).admitted);
    among.every_key_outlives_its_recovery();
    RedisUnderTest looked_at;
    charged(looked_at);
    ask(looked_at, epoch + 1s, {claim(longer, 1, 0)});
    looked_at.every_key_outlives_its_recovery();
  }
}

TEST_CASE("Without memory in Redis a lengthened policy still denies") {
  RedisUnderTest store;
  ask(store, epoch, {claim(policy(Algorithm::fixed_window, 2, 60s), 1, 2)});
  const auto longer = policy(Algorithm::fixed_window, 2, 3600s);
  const Claim one = claim(longer, 1);
  store.redis("CONFIG", "SET", "maxmemory", "1");
  std::string command;
  const std::string names[] = {"p0"};
  const std::string script = script_for(set_of(longer.algorithm), Clock::argument);
  append_question(command, {ScriptName::By::text, script}, {"weir:", names}, {&one, 1}, epoch);
  const Reply reply = store.redis.send(command);
  store.redis("CONFIG", "SET", "maxmemory", "0");
  bool admitted = true;
  rules::Decision decision{.limit = 2};
  REQUIRE(read_answer(*reply, {&decision, 1}, admitted));
  CHECK_FALSE(admitted);
  CHECK(decision.reset_after == Duration{3600s});
}

TEST_CASE("A foreign value under a key is ignored, and the first charge replaces it") {
  for (const auto algorithm : algorithms) {
    const auto limit = policy(algorithm, 2, 2s);
    const Claim one = claim(limit, 1);
    for (const std::string kind : {"string", "list", "zset", "late", "hash", "long", "other"}) {
      CAPTURE(to_string(algorithm), kind);
      RedisUnderTest store;
      const std::string key = store.key_of(one);
      const auto other =
          policy(algorithm == Algorithm::gcra ? Algorithm::leaky_bucket : Algorithm::gcra, 2, 2s);
      if (kind == "string") store.redis("SET", key, "12");
      if (kind == "list") store.redis("RPUSH", key, "a", "b");
      if (kind == "zset") store.redis("ZADD", key, "5", "member");
      if (kind == "late") store.redis("ZADD", key, "9e15", "member");
      if (kind == "hash") store.redis("HSET", key, "a", "1");
      if (kind == "long") store.redis("SET", key, std::string(500, 'x'));
      if (kind == "other") ask(store, epoch, {claim(other, 1, 2)});
      CHECK(ask(store, epoch, {claim(limit, 1, 0)}).decisions[0].remaining == 2);
      CHECK(ask(store, epoch, {one}).decisions[0].remaining == 1);
      CHECK(ask(store, epoch, {one}).decisions[0].remaining == 0);
      CHECK_FALSE(ask(store, epoch, {one}).admitted);
      store.every_key_outlives_its_recovery();
    }
  }
}

TEST_CASE("The list of an attributed window contains the requests that were counted") {
  RedisUnderTest store;
  const auto limit = policy(Algorithm::attributed_window, 3, 10s);
  const std::string_view alice[] = {"alice", "agent\t1\n"};
  const std::string_view bob[] = {"bob", "agent 2"};
  Claim one = claim(limit, 1, 2);
  one.attributes = alice;
  ask(store, epoch, {one});
  one.attributes = bob;
  one.demand.cost = 1;
  ask(store, epoch + 5us, {one});
  const Reply list = store.redis("LRANGE", store.key_of(one), "0", "-1");
  REQUIRE(list->elements == 2);
  CHECK(list->element[0]->str ==
        std::string("1700000010000000\t2\t2\t1700000010000000\talice\tagent 1 "));
  CHECK(list->element[1]->str ==
        std::string("1700000010000005\t1\t3\t1700000010000000\tbob\tagent 2"));
  CHECK(store.redis("TYPE", store.key_of(one))->str == std::string("list"));
}

TEST_CASE("With the server's clock a script lets pass and denies, and its key expires") {
  RedisUnderTest store;
  for (const auto algorithm : algorithms) {
    CAPTURE(to_string(algorithm));
    const auto limit = policy(algorithm, 1, 3600s);
    const Claim one = claim(limit, static_cast<std::uint64_t>(algorithm));
    const std::string script = script_for(set_of(algorithm));
    const std::string names[] = {"p0"};
    std::string command;
    append_question(command, {ScriptName::By::text, script}, {"weir:", names}, {&one, 1});
    bool admitted = false;
    rules::Decision decision{.limit = 1};
    REQUIRE(read_answer(*store.redis.send(command), {&decision, 1}, admitted));
    CHECK(admitted);
    REQUIRE(read_answer(*store.redis.send(command), {&decision, 1}, admitted));
    CHECK_FALSE(admitted);
    REQUIRE(decision.retry_after.has_value());
    const auto ttl = store.redis("PTTL", store.key_of(one))->integer;
    CHECK(std::chrono::milliseconds(ttl) + 1s >= decision.reset_after);
  }
}

TEST_CASE("The rights that docs/redis.md names are enough for all that the scripts do") {
  Connection admin(shared_server());
  admin("ACL", "SETUSER", "weir", "reset", "on", ">secret", "~weir:*", "-@all", "+auth",
        "+script|load", "+evalsha", "+eval", "+time", "+get", "+scan", "+set", "+del", "+unlink",
        "+pexpire", "+pttl", "+lindex", "+llen", "+lset", "+ltrim", "+rpush", "+hgetall", "+hset",
        "+hdel");
  RedisUnderTest store("weir", "secret");
  for (const auto algorithm : algorithms) {
    CAPTURE(to_string(algorithm));
    const auto limit = policy(algorithm, 3, 3s);
    for (int i = 0; i < 30; ++i)
      ask(store, epoch + i * 400ms, {claim(limit, 1), claim(limit, 2)});
    const auto longer = policy(algorithm, 3, 3600s);
    CHECK(ask(store, epoch + 12s, {claim(longer, 1, 0)}).admitted);
    const Claim three = holding(limit, 3, 3);
    CHECK(ask(store, epoch + 12s, {three}).admitted);
    settle_one(store, settlement_of(three, 3, 5), epoch + 12s);
    CHECK_FALSE(ask(store, epoch + 12s, {three}).admitted);
    store.forget({.identity = claim(limit, 1).identity});
  }
  const Override denial{.kind = Override::Kind::denied, .until = epoch + 60s};
  using Outcome = store::OverrideReport::Outcome;
  CHECK(store.put({.low = 1}, denial, epoch).outcome == Outcome::done);
  CHECK(store.list({}, epoch).overrides.size() == 1);
  CHECK(store.remove({.low = 1}, "", epoch).outcome == Outcome::done);
  const store::EventMark event{
      .identity = {.low = 1}, .policy = "p1", .percent = 80, .ends_after = 10s, .kept_for = 10s};
  CHECK(store.mark(event, epoch).error == store::Error::none);
  CHECK(store.mark(event, epoch).marked_for == 10s);
  admin("ACL", "DELUSER", "weir");
}

TEST_CASE("A script that reads no holds is joined as before there were any") {
  struct Part {
    std::string_view text;
    AlgorithmSet users;
  };
  constexpr AlgorithmSet all = 0x7f;  // without concurrency, which always holds
  const AlgorithmSet arrivals = set_of(Algorithm::gcra) | set_of(Algorithm::leaky_bucket);
  const AlgorithmSet windows =
      set_of(Algorithm::fixed_window) | set_of(Algorithm::attributed_window);
  const Part parts[] = {{lua::arguments, all},
                        {lua::span, all},
                        {lua::value, all},
                        {lua::overrides, all},
                        {lua::arrival, arrivals},
                        {lua::window, windows},
                        {lua::fixed_window, set_of(Algorithm::fixed_window)},
                        {lua::attributed_window, set_of(Algorithm::attributed_window)},
                        {lua::sliding_window, set_of(Algorithm::sliding_window)},
                        {lua::sliding_log, set_of(Algorithm::sliding_log)},
                        {lua::token_bucket, set_of(Algorithm::token_bucket)},
                        {lua::gcra, set_of(Algorithm::gcra)},
                        {lua::leaky_bucket, set_of(Algorithm::leaky_bucket)},
                        {lua::one_claim, all},
                        {lua::claims, all}};
  for (AlgorithmSet set = 1; set <= all; ++set) {
    std::string expected{lua::clock_server};
    expected += lua::one_request;
    if (set == set_of(Algorithm::gcra)) expected += lua::gcra_alone;
    for (const Part& part : parts) {
      if ((part.users & set) != 0) expected += part.text;
    }
    CHECK(script_for(set) == expected);
    CHECK(script_for(set).find("HGETALL") == std::string::npos);
    CHECK(script_for(set | with_holds).find("HGETALL") != std::string::npos);
  }
}

TEST_CASE("A script has the parts of its algorithms and no others") {
  const std::string gcra = script_for(set_of(Algorithm::gcra));
  CHECK(gcra.find("redis.call('TIME')") != std::string::npos);
  CHECK(gcra.find("LTRIM") == std::string::npos);
  CHECK(script_for(set_of(Algorithm::sliding_log)).find("LTRIM") != std::string::npos);
  CHECK(script_for(set_of(Algorithm::gcra), Clock::argument).find("'TIME'") == std::string::npos);
}

}  // namespace weir::redis::test
