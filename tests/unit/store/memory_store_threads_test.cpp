#include <atomic>
#include <barrier>
#include <random>
#include <thread>

#include "catch.hpp"
#include "unit/store/memory_store_under_test.hpp"

namespace weir::store::test {
namespace {

constexpr int thread_count = 8;

/// Runs `work(i)` on all threads at once and waits for them.
template <class Work>
void on_all_threads(Work work) {
  std::barrier start(thread_count);
  std::vector<std::jthread> threads;
  for (int i = 0; i < thread_count; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      work(i);
    });
  }
}

bool admits(MemoryStore& store, std::initializer_list<Claim> claims) {
  std::array<rules::Decision, claims_per_request> decisions;
  return store.decide(std::span(claims.begin(), claims.size()), epoch, decisions);
}

}  // namespace

TEST_CASE("Threads on one key are admitted exactly its quota") {
  for (const auto algorithm : algorithms) {
    MemoryStore store({.max_keys = 100'000, .seed = 1});
    const auto limit = policy(algorithm, 997, 3'600s);
    std::atomic<std::int64_t> admitted{0};
    on_all_threads([&](int) {
      for (int i = 0; i < 400; ++i)
        admitted += admits(store, {claim(limit, 1)}) ? 1 : 0;
    });
    CAPTURE(to_string(algorithm));
    CHECK(admitted == limit.capacity);
  }
}

TEST_CASE("Threads on many keys are admitted exactly the quota of each") {
  constexpr std::size_t keys = 300;
  for (const auto algorithm : algorithms) {
    MemoryStore store({.max_keys = 100'000, .seed = 1});
    const auto limit = policy(algorithm, 5, 3'600s);
    std::vector<std::atomic<std::int64_t>> admitted(keys);
    on_all_threads([&](int thread) {
      std::mt19937_64 random(static_cast<std::uint64_t>(thread));
      std::vector<std::uint64_t> order;
      for (std::uint64_t i = 0; i < keys * 2; ++i)
        order.push_back(i % keys);
      std::ranges::shuffle(order, random);
      for (const auto who : order)
        admitted[who] += admits(store, {claim(limit, who)}) ? 1 : 0;
    });
    CAPTURE(to_string(algorithm));
    for (const auto& count : admitted)
      REQUIRE(count == limit.capacity);
    CHECK(store.keys() == keys);
  }
}

TEST_CASE("Requests of several claims neither deadlock nor split") {
  MemoryStore store({.max_keys = 1'000'000, .seed = 1});
  const auto wide = policy(rules::Algorithm::gcra, 3'000, 3'600s);
  const auto narrow = policy(rules::Algorithm::sliding_log, 500, 3'600s);
  std::atomic<std::int64_t> admitted{0};
  on_all_threads([&](int thread) {
    for (std::uint64_t i = 0; i < 1'000; ++i) {
      const Claim a = claim(wide, 1, 2, 0);
      const Claim b = claim(narrow, 2, 1, 1);
      const Claim own = claim(wide, i + 10, 1, 2);
      const bool forwards = thread % 2 == 0;
      admitted += (forwards ? admits(store, {a, own, b}) : admits(store, {b, own, a})) ? 1 : 0;
    }
  });
  CHECK(admitted == 500);
  std::array<rules::Decision, 1> left;
  store.decide(std::array{claim(wide, 1, 0, 0)}, epoch, left);
  CHECK(left[0].remaining == 2'000);
}

TEST_CASE("Threads that evict, reclaim and count stay within the bound") {
  MemoryStore store({.max_keys = 20'000, .seed = 1});
  const auto limit = policy(rules::Algorithm::sliding_log, 5, 1s);
  std::atomic<int> over_bound{0};
  on_all_threads([&](int thread) {
    std::array<rules::Decision, 1> decision;
    for (std::uint64_t i = 0; i < 10'000; ++i) {
      const auto who = static_cast<std::uint64_t>(thread) * 100'000 + i;
      store.decide(std::array{claim(limit, who)}, epoch + i * 500us, decision);
      if (i % 500 == 0 && store.keys() > 20'000) ++over_bound;
    }
  });
  CHECK(over_bound == 0);
  CHECK(store.denied_evictions() == 0);
}

}  // namespace weir::store::test
