// A limiter that decides with a real Redis of its own, for tests.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "redis/script.hpp"
#include "unit/limiter/request_fixture.hpp"
#include "unit/redis/store_fixture.hpp"

namespace weir::limiter::test {

using redis::StoreError;

struct Told final : redis::Receiver {
  void on_answer(StoreError its_error) override { error = its_error; }
  std::optional<StoreError> error;
};

inline Policy shared_policy(const char* name, std::int64_t count,
                            OnFailure on_failure = OnFailure::local) {
  Policy result = policy(name, gcra(count, 3'600s));
  result.local_rule = rules::compile(gcra(1, 3'600s)).value();
  result.on_failure = on_failure;
  return result;
}

/// One of several requests that are decided at the same time.
struct Coming {
  Verdict verdict;
  Inquiry inquiry;
  Told told;
};

/// A limiter over a Redis of its own. Time is the test's; the clock of Redis is its own.
struct SharedFixture : Fixture {
  SharedFixture() {
    static_cast<redis::Options&>(config.redis) = redis::test::StoreFixture::options_for(process);
    config.redis.breaker_failures = 2;
  }

  bool connect() {
    redis.emplace(config.redis);
    std::vector<std::string> names;
    for (const auto& configured : config.policies)
      names.push_back(configured.name);
    const std::uint8_t gcra_alone = redis::set_of(rules::Algorithm::gcra);
    const std::uint8_t window_alone = redis::set_of(rules::Algorithm::fixed_window);
    const std::uint8_t both = gcra_alone | window_alone;
    const std::vector sets{gcra_alone, window_alone, both};
    redis->store.emplace(redis->io, config.redis, names, sets, redis->counters, 1);
    limiter = std::make_unique<Limiter>(config, store, *redis->store, config.redis, 1);
    return redis->start();
  }
  /// Through to the verdict; it holds until the next.
  Verdict serve(Duration after = 0s) {
    const Verdict at_once = limiter->decide(routes(), epoch + after);
    if (at_once.outcome != Outcome::undecided) return at_once;
    Told told;
    inquiry.emplace();
    limiter->ask(*inquiry, told, epoch + after);
    REQUIRE(redis->run_until([&] { return told.error.has_value(); }));
    return limiter->conclude(*inquiry, *told.error, routes(), epoch + after);
  }
  /// Up to where it has to wait.
  void come(Coming& coming, Duration after) {
    coming.verdict = limiter->decide(routes(), epoch + after);
    if (coming.verdict.outcome == Outcome::undecided) ask(coming, after);
  }
  void ask(Coming& coming, Duration after) {
    coming.told.error.reset();
    limiter->ask(coming.inquiry, coming.told, epoch + after);
  }
  bool await(const Coming& coming) {
    return redis->run_until([&] { return coming.told.error.has_value(); });
  }
  Outcome conclude(Coming& coming, Duration after) {
    coming.verdict = limiter->conclude(coming.inquiry, *coming.told.error, routes(), epoch + after);
    return coming.verdict.outcome;
  }
  std::uint64_t questions() const { return redis->counters.questions.value(); }
  Breaker::State breaker() const { return limiter->sharing()->breaker.load(); }

  redis::test::RedisProcess process;
  std::optional<redis::test::StoreFixture> redis;
  std::optional<Inquiry> inquiry;
};

}  // namespace weir::limiter::test
