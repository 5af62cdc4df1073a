#include "limiter/top_keys.hpp"

#include <deque>
#include <map>
#include <random>
#include <span>

#include "catch.hpp"
#include "seed.hpp"

namespace weir::limiter {
namespace {

using namespace std::chrono_literals;

constexpr Instant first_interval{30s * 1000};
constexpr auto requests = static_cast<std::size_t>(KeyEvent::request);

RouteKey route_key(std::uint64_t identity, std::uint32_t policy = 0, std::uint32_t route = 0) {
  return {.identity = {.low = identity, .high = ~identity}, .policy_id = policy, .route_id = route};
}

KeyCounts counts_of(TopKeys& keys, KeyEvent event, Instant now) {
  const TopCounts counts = keys.read(now);
  const auto& parts = counts.parts[static_cast<std::size_t>(event)];
  return merged(std::span<const KeyCounts>(parts));
}

std::uint64_t count_of(const KeyCounts& counts, const RouteKey& key) {
  for (const auto& entry : counts.entries) {
    if (entry.key == key) return entry.count;
  }
  return counts.unseen;
}

TEST_CASE("events are counted apart, and so are policies and routes of one identity") {
  TopKeys keys(1);
  const Instant now = first_interval + 5s;
  keys.count(route_key(1), {}, {}, now);
  keys.count(route_key(1), {.is_denied = true}, {}, now);
  keys.count(route_key(1, 1), {}, {}, now);
  keys.count(route_key(1, 0, 1), {}, {}, now);
  const KeyCounts all = counts_of(keys, KeyEvent::request, now);
  CHECK(all.total == 4);
  CHECK(count_of(all, route_key(1)) == 2);
  CHECK(count_of(all, route_key(1, 1)) == 1);
  CHECK(count_of(all, route_key(1, 0, 1)) == 1);
  CHECK(count_of(counts_of(keys, KeyEvent::denial, now), route_key(1)) == 1);
  CHECK(counts_of(keys, KeyEvent::early_retry, now).entries.empty());
}

TEST_CASE("a key keeps the sample of its first event in an interval") {
  TopKeys keys(1);
  const IpAddress one = *IpAddress::parse("192.0.2.1");
  const IpAddress two = *IpAddress::parse("192.0.2.2");
  keys.count(route_key(1), {}, {.client = one, .identity_id = 7}, first_interval);
  keys.count(route_key(1), {}, {.client = two, .identity_id = 7}, first_interval);
  const KeyCounts all = counts_of(keys, KeyEvent::request, first_interval);
  REQUIRE(all.entries.size() == 1);
  CHECK(all.entries[0].note.client == one);
  CHECK(all.entries[0].note.identity_id == 7);
}

TEST_CASE("an interval counts until the end of the next one") {
  TopKeys keys(1);
  keys.count(route_key(1), {}, {}, first_interval);
  keys.count(route_key(1), {}, {}, first_interval + 30s - 1us);
  keys.count(route_key(1), {}, {}, first_interval + 30s);
  const auto at = [&](Duration after) {
    return count_of(counts_of(keys, KeyEvent::request, first_interval + after), route_key(1));
  };
  CHECK(at(30s) == 3);
  CHECK(at(60s - 1us) == 3);
  CHECK(at(60s) == 1);
  CHECK(at(90s - 1us) == 1);
  CHECK(at(90s) == 0);
}

TEST_CASE("after a pause nothing from before it counts") {
  TopKeys keys(1);
  keys.count(route_key(1), {}, {}, first_interval);
  keys.count(route_key(2), {}, {}, first_interval + 10min);
  const KeyCounts all = counts_of(keys, KeyEvent::request, first_interval + 10min);
  CHECK(all.total == 1);
  CHECK(count_of(all, route_key(1)) == 0);
}

TEST_CASE("the counts begin with the interval before, or with the first event") {
  TopKeys keys(1);
  CHECK(keys.read(first_interval + 12s).since == first_interval + 12s);
  keys.count(route_key(1), {}, {}, first_interval + 20s);
  CHECK(keys.read(first_interval + 25s).since == first_interval + 12s);
  CHECK(keys.read(first_interval + 59s).since == first_interval + 12s);
  CHECK(keys.read(first_interval + 61s).since == first_interval + 30s);
}

TEST_CASE("the bounds hold in each window while the keys of several workers change") {
  std::mt19937 random{TestSeed{}};
  struct Event {
    Instant at;
    RouteKey key;
  };
  std::deque<Event> events;
  std::deque<TopKeys> workers;
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    workers.emplace_back(seed);
  Instant now = first_interval + 3s;
  for (int i = 1; i <= 60'000; ++i) {
    now += Duration{std::uniform_int_distribution<std::int64_t>(0, 6'000)(random)};
    // Heavy keys, which others replace over time, in a crowd of keys that come once.
    const bool is_heavy = random() % 4 == 0;
    const auto identity = is_heavy ? static_cast<std::uint64_t>(i / 20'000 * 10) + random() % 5
                                   : 1'000'000 + random() % 1'000'000;
    const Event event{now, route_key(identity, is_heavy ? random() % 2 : 0)};
    events.push_back(event);
    workers[random() % workers.size()].count(event.key, {}, {}, now);
    if (i % 4'999 != 0) continue;

    std::vector<KeyCounts> parts;
    Instant since = now;
    for (TopKeys& worker : workers) {
      TopCounts counts = worker.read(now);
      since = std::min(since, counts.since);
      for (KeyCounts& part : counts.parts[requests])
        parts.push_back(std::move(part));
    }
    const KeyCounts all = merged(std::span<const KeyCounts>(parts));
    while (events.front().at < since)
      events.pop_front();
    std::map<RouteKey, std::uint64_t> exact;
    for (const Event& one : events)
      ++exact[one.key];
    REQUIRE(all.total == events.size());
    const std::uint64_t most_error = all.total / TopKeys::capacity;
    for (const auto& entry : all.entries) {
      REQUIRE(exact.contains(entry.key));
      REQUIRE(entry.error <= most_error);
      REQUIRE(exact[entry.key] <= entry.count);
      REQUIRE(entry.count - entry.error <= exact[entry.key]);
    }
    for (const auto& [key, count] : exact) {
      if (count > most_error) REQUIRE(count_of(all, key) >= count);
    }
  }
}

}  // namespace
}  // namespace weir::limiter
