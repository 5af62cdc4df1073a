// Measures the memory of a key and the time of an acquire: one GCRA claim on one of a million keys,
// on one hot key, and the whole decide() of the limiter.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <time.h>
#include <unistd.h>
#include <vector>

#include "limiter/limiter.hpp"
#include "rules/policy.hpp"
#include "store/memory_store.hpp"

namespace {

using namespace weir;

/// The CPU time of this thread, so that other processes do not count.
struct Clock {
  using duration = std::chrono::nanoseconds;
  static duration now() {
    timespec spent{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
  }
};

constexpr std::size_t key_count = 1'000'000;
constexpr Instant start = instant_from_us(1'700'000'000'000'000);

std::int64_t resident_bytes() {
  std::int64_t total = 0;
  std::int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

rules::Policy gcra() {
  rules::Definition definition;
  definition.rates = {{.count = 100, .per = std::chrono::hours(1)}};
  return rules::compile(definition).value();
}

Hash128 identity_of(std::uint64_t who) {
  return {.low = who * 0x9e3779b97f4a7c15, .high = ~who};
}

void report(const char* name, Clock::duration took, std::int64_t calls) {
  std::printf("%-44s %6.1f ns\n", name,
              static_cast<double>(took / std::chrono::nanoseconds(1)) / static_cast<double>(calls));
}

/// Runs `call(i)` often and prints the time of one call, in the best of five rounds.
template <class Call>
void measure(const char* name, Call call) {
  constexpr std::int64_t calls = 1'000'000;
  auto best = Clock::duration::max();
  for (int round = 0; round < 5; ++round) {
    const auto began_at = Clock::now();
    for (std::int64_t i = 0; i < calls; ++i)
      call(i);
    best = std::min(best, Clock::now() - began_at);
  }
  report(name, best, calls);
}

struct Store {
  explicit Store(std::size_t max_keys)
      : store({.max_keys = max_keys, .seed = std::random_device{}()}) {}

  bool acquire(std::uint64_t who, Instant now) {
    store::Claim claim;
    claim.policy = &policy;
    claim.identity = identity_of(who);
    rules::Decision decision;
    return store.decide({&claim, 1}, now, {&decision, 1});
  }

  rules::Policy policy = gcra();
  store::MemoryStore store;
};

void measure_memory(std::size_t max_keys) {
  const std::int64_t before = resident_bytes();
  Store store(max_keys);
  auto longest = Clock::duration{};
  int long_calls = 0;
  for (std::uint64_t who = 0; who < key_count; ++who) {
    const auto call_at = Clock::now();
    store.acquire(who, start);
    const auto took = Clock::now() - call_at;
    longest = std::max(longest, took);
    long_calls += took > std::chrono::microseconds(100) ? 1 : 0;
  }
  const auto keys = static_cast<double>(store.store.keys());
  std::printf(
      "max_keys %zu: %.0f keys, %.1f bytes a key, longest insert %.0f us, %d above 100 us\n",
      max_keys, keys, static_cast<double>(resident_bytes() - before) / keys,
      static_cast<double>(longest / std::chrono::nanoseconds(1)) / 1'000, long_calls);
}

void measure_acquire() {
  Store store(2 * key_count);
  const auto began_at = Clock::now();
  for (std::uint64_t who = 0; who < key_count; ++who)
    store.acquire(who, start);
  report("acquire, a new key", Clock::now() - began_at, key_count);
  std::mt19937_64 random(1);
  std::vector<std::uint32_t> order(key_count);
  for (auto& who : order)
    who = static_cast<std::uint32_t>(random() % key_count);
  measure("acquire, one of a million keys", [&](std::int64_t i) {
    store.acquire(order[static_cast<std::size_t>(i)], start + Duration{i});
  });
  measure("acquire, one hot key", [&](std::int64_t i) { store.acquire(7, start + Duration{i}); });
}

void measure_decide() {
  limiter::Options options;
  options.identities.push_back({.name = "client", .source = {identity::FromClientAddress{}}});
  options.policies.emplace_back().numbers = gcra();
  const identity::ClientAddressOptions client_options;
  const std::vector<limiter::Limit> limits(1);
  store::MemoryStore store({.max_keys = 2 * key_count, .seed = 1});
  limiter::Limiter limiter(options, store);
  limiter::Evaluation evaluation;
  struct Nobody final : store::Completion {
    void complete(const store::Result&, Instant) noexcept override {}
  } nobody;

  const http::RequestView request;
  const auto decide = [&](std::uint64_t who, Instant now) {
    const auto bits = static_cast<std::uint32_t>(who);
    const auto byte = [&](int shift) { return static_cast<std::uint8_t>(bits >> shift); };
    const auto client = IpAddress::v4({byte(24), byte(16), byte(8), byte(0)});
    const limiter::RouteEvidence one{limits,
                                     {.request = request,
                                      .path = {},
                                      .client = client,
                                      .path_parameters = {},
                                      .client_options = client_options}};
    limiter.decide(evaluation, {&one, 1}, nobody, now);
  };
  for (std::uint64_t who = 0; who < key_count; ++who)
    decide(who, start);
  measure("decide by client address, a million keys", [&](std::int64_t i) {
    decide(static_cast<std::uint64_t>(i) * 7'919 % key_count, start + Duration{i});
  });
  measure("decide by client address, one hot key",
          [&](std::int64_t i) { decide(7, start + Duration{i}); });
}

}  // namespace

int main() {
  measure_memory(key_count);
  measure_memory(2 * key_count);
  measure_acquire();
  measure_decide();
}
