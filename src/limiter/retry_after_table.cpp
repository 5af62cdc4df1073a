#include "limiter/retry_after_table.hpp"

#include <algorithm>

namespace weir::limiter {

RetryAfterTable::Words RetryAfterTable::read(const Entry& entry) {
  const std::int64_t given_at = entry.given_at.load(std::memory_order_relaxed);
  const std::int64_t retry_at = entry.retry_at.load(std::memory_order_relaxed);
  const std::uint64_t check = entry.check.load(std::memory_order_relaxed);
  return {
      .hash = check ^ static_cast<std::uint64_t>(given_at) ^ static_cast<std::uint64_t>(retry_at),
      .given_at = given_at,
      .retry_at = retry_at};
}

void RetryAfterTable::give(const store::Key& key, Instant now, Instant retry_at) {
  const std::uint64_t hash = hash_(key.identity, key.policy_id);
  Set& set = sets_[hash & (sets - 1)];
  auto entry = std::ranges::find(set, hash, [](const Entry& one) { return read(one).hash; });
  std::int64_t given_at = to_us(now);
  if (entry == set.end()) {
    entry = std::ranges::min_element(set, {}, [](const Entry& one) { return read(one).retry_at; });
  } else if (const Words before = read(*entry); before.retry_at > given_at) {
    given_at = std::min(given_at, before.given_at);
  }
  const std::int64_t until = to_us(retry_at);
  entry->check.store(
      hash ^ static_cast<std::uint64_t>(given_at) ^ static_cast<std::uint64_t>(until),
      std::memory_order_relaxed);
  entry->given_at.store(given_at, std::memory_order_relaxed);
  entry->retry_at.store(until, std::memory_order_relaxed);
  std::int64_t latest = latest_.load(std::memory_order_relaxed);
  while (latest < until &&
         !latest_.compare_exchange_weak(latest, until, std::memory_order_relaxed)) {
  }
}

bool RetryAfterTable::is_given(const store::Key& key, Instant arrived_at) const {
  const std::uint64_t hash = hash_(key.identity, key.policy_id);
  const std::int64_t arrived = to_us(arrived_at);
  return std::ranges::any_of(sets_[hash & (sets - 1)], [&](const Entry& entry) {
    const Words words = read(entry);
    return words.hash == hash && words.given_at < arrived && arrived < words.retry_at;
  });
}

}  // namespace weir::limiter
