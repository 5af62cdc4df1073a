#include "catch.hpp"
#include "unit/store/memory_store_under_test.hpp"

namespace weir::store::test {

TEST_CASE("A store never holds more keys than its bound") {
  for (const std::size_t max_keys : {std::size_t{1}, std::size_t{50}, std::size_t{20'003}}) {
    CAPTURE(max_keys);
    MemoryStoreUnderTest store(max_keys);
    const auto limit = policy(rules::Algorithm::gcra, 5, 60s);
    for (std::uint64_t who = 0; who < 2 * max_keys + 100; ++who) {
      CHECK(ask(store, epoch, {claim(limit, who)}).admitted);
      if (store.memory.keys() > max_keys) FAIL(store.memory.keys() << " keys");
    }
    CHECK(store.memory.keys() == max_keys);
    CHECK(store.memory.evictions() == 2 * max_keys + 100 - store.memory.keys());
    CHECK(store.memory.denied_evictions() == 0);
  }
}

TEST_CASE("A key that is being denied survives a flood of fresh keys") {
  MemoryStoreUnderTest store(1'000);
  const auto limit = policy(rules::Algorithm::gcra, 2, 60s);
  CHECK(ask(store, epoch, {claim(limit, 0, 2)}).admitted);
  CHECK_FALSE(ask(store, epoch, {claim(limit, 0)}).admitted);
  for (std::uint64_t who = 1; who <= 100'000; ++who)
    ask(store, epoch, {claim(limit, who, 2)});
  CHECK(store.memory.evictions() > 98'000);
  CHECK_FALSE(ask(store, epoch + 1s, {claim(limit, 0)}).admitted);
  CHECK(store.memory.denied_evictions() == 0);
  // The others were as exhausted, but had no requests.
  CHECK(ask(store, epoch + 1s, {claim(limit, 1)}).admitted);
}

TEST_CASE("Looking at a denied key does not make it worth less") {
  MemoryStoreUnderTest store(100);
  const auto limit = policy(rules::Algorithm::sliding_log, 1, 60s);
  CHECK(ask(store, epoch, {claim(limit, 0)}).admitted);
  CHECK_FALSE(ask(store, epoch, {claim(limit, 0)}).admitted);
  CHECK(ask(store, epoch, {claim(limit, 0, 0)}).admitted);
  for (std::uint64_t who = 1; who <= 1'000; ++who)
    ask(store, epoch, {claim(limit, who)});
  CHECK_FALSE(ask(store, epoch, {claim(limit, 0)}).admitted);
}

TEST_CASE("A store full of denied keys evicts them, and counts it") {
  MemoryStoreUnderTest store(10);
  const auto limit = policy(rules::Algorithm::fixed_window, 1, 60s);
  for (std::uint64_t who = 0; who < 30; ++who) {
    CHECK(ask(store, epoch, {claim(limit, who)}).admitted);
    CHECK_FALSE(ask(store, epoch, {claim(limit, who)}).admitted);
  }
  CHECK(store.memory.keys() == 10);
  CHECK(store.memory.denied_evictions() == 20);
}

TEST_CASE("Whole keys are evicted first, which changes no decision") {
  MemoryStoreUnderTest store(16);
  const auto brief = policy(rules::Algorithm::gcra, 1, 1s);
  const auto lasting = policy(rules::Algorithm::gcra, 1, 3'600s);
  for (std::uint64_t who = 0; who < 8; ++who) {
    ask(store, epoch, {claim(brief, who, 1, 0)});
    ask(store, epoch, {claim(lasting, who, 1, 1)});
  }
  for (std::uint64_t who = 8; who < 16; ++who)
    ask(store, epoch + 2s, {claim(lasting, who, 1, 1)});
  CHECK(store.memory.evictions() == 0);
  for (std::uint64_t who = 0; who < 16; ++who) {
    CHECK_FALSE(ask(store, epoch + 2s, {claim(lasting, who, 1, 1)}).admitted);
  }
}

TEST_CASE("The soonest whole is evicted before the later") {
  MemoryStoreUnderTest store(16);
  const auto brief = policy(rules::Algorithm::gcra, 1, 10s);
  const auto lasting = policy(rules::Algorithm::gcra, 1, 3'600s);
  for (std::uint64_t who = 0; who < 8; ++who) {
    ask(store, epoch, {claim(brief, who, 1, 0)});
    ask(store, epoch, {claim(lasting, who, 1, 1)});
  }
  for (std::uint64_t who = 8; who < 16; ++who)
    ask(store, epoch, {claim(lasting, who, 1, 1)});
  CHECK(store.memory.evictions() == 8);
  for (std::uint64_t who = 0; who < 16; ++who) {
    CHECK_FALSE(ask(store, epoch, {claim(lasting, who, 1, 1)}).admitted);
  }
}

TEST_CASE("A denied request of a fresh key takes no room, and neither does a look") {
  MemoryStoreUnderTest store(100);
  for (const auto algorithm : algorithms) {
    const auto limit = policy(algorithm, 3, 60s);
    const auto spent = policy(algorithm, 1, 60s);
    CHECK_FALSE(ask(store, epoch, {claim(limit, 1, 4)}).admitted);
    CHECK(ask(store, epoch, {claim(limit, 1, 0)}).admitted);
    CHECK_FALSE(ask(store, epoch, {claim(limit, 1, 1), claim(spent, 2, 2, 1)}).admitted);
  }
  CHECK(store.memory.keys() == 0);
}

TEST_CASE("Whole keys are reclaimed a few at a time by the calls of others") {
  for (const auto algorithm : algorithms) {
    CAPTURE(to_string(algorithm));
    MemoryStoreUnderTest store(100'000);
    const auto limit = policy(algorithm, 3, 10s);
    for (std::uint64_t who = 0; who < 5'000; ++who)
      ask(store, epoch, {claim(limit, who)});
    CHECK(store.memory.keys() == 5'000);
    const auto busy = policy(rules::Algorithm::gcra, 1'000'000, 60s);
    ask(store, epoch + 60s, {claim(busy, 1, 1, 1)});
    CHECK(store.memory.keys() > 4'000);
    for (std::uint64_t call = 0; call < 10'000; ++call) {
      ask(store, epoch + 60s, {claim(busy, call % 1'000, 1, 1)});
    }
    CHECK(store.memory.keys() == 1'000);
    CHECK(store.memory.evictions() == 0);
  }
}

TEST_CASE("Growing keeps every key") {
  for (const auto algorithm : algorithms) {
    CAPTURE(to_string(algorithm));
    MemoryStoreUnderTest store(200'000);
    const auto limit = policy(algorithm, 2, 3'600s);
    const std::uint64_t count = 20'000;
    for (std::uint64_t who = 0; who < count; ++who)
      ask(store, epoch, {claim(limit, who)});
    CHECK(store.memory.keys() == count);
    std::uint64_t kept = 0;
    for (std::uint64_t who = 0; who < count; ++who) {
      kept += ask(store, epoch, {claim(limit, who, 0)}).decisions[0].remaining == 1 ? 1U : 0U;
    }
    CHECK(kept == count);
    CHECK(store.memory.evictions() == 0);
  }
}

TEST_CASE("A bound that was lowered is met as new keys come, and one that was raised at once") {
  for (const std::size_t max_keys : {std::size_t{1'000}, std::size_t{20'006}}) {
    CAPTURE(max_keys);
    MemoryStoreUnderTest store(max_keys);
    const auto limit = policy(rules::Algorithm::gcra, 5, 60s);
    std::uint64_t who = 0;
    const auto fill = [&](std::size_t count) {
      for (const auto end = who + count; who < end; ++who)
        CHECK(ask(store, epoch, {claim(limit, who)}).admitted);
      return store.memory.keys();
    };
    fill(2 * max_keys);
    store.memory.set_max_keys(max_keys / 2);
    CHECK(store.memory.keys() > max_keys / 2);
    CHECK(fill(4 * max_keys) == max_keys / 2);
    store.memory.set_max_keys(2 * max_keys);
    CHECK(fill(6 * max_keys) == 2 * max_keys);
  }
}

TEST_CASE("A policy that changed its algorithm starts with a fresh state") {
  MemoryStoreUnderTest store(100);
  for (const auto from : algorithms) {
    for (const auto to : algorithms) {
      if (from == to) continue;
      CAPTURE(to_string(from), to_string(to));
      const auto id = static_cast<std::uint32_t>(from) * 10 + static_cast<std::uint32_t>(to);
      const auto before = policy(from, 5, 60s);
      const auto after = policy(to, 5, 60s);
      CHECK(ask(store, epoch, {claim(before, 1, 2, id)}).admitted);
      CHECK(ask(store, epoch, {claim(after, 1, 1, id)}).decisions[0].remaining == 4);
      CHECK(ask(store, epoch, {claim(after, 1, 0, id)}).decisions[0].remaining == 4);
    }
  }
}

}  // namespace weir::store::test
