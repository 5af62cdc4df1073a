// The counters of a worker for each node, for a metrics scrape.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

#include "store/chain_counters.hpp"

namespace weir::redis {

/// Written by the worker, read by a scrape.
struct NodeCounters {
  std::atomic<int> users{0};          ///< topologies in which it has keys, so a connection is kept
  std::atomic<bool> is_ready{false};  ///< connected, authenticated, scripts loaded
  store::BreakerCounters breaker;
};

/// The nodes of a worker since its start, by their address. Thread-safe.
class NodeCountersList {
 public:
  struct Entry {
    std::string server;  ///< HOST:PORT
    NodeCounters counters;
  };
  /// Further servers share one entry.
  static constexpr std::size_t most = 1024;

  NodeCountersList() = default;
  NodeCountersList(const NodeCountersList&) = delete;
  NodeCountersList& operator=(const NodeCountersList&) = delete;

  /// The counters of a server, from the first call on; they stay in their place.
  NodeCounters& of(std::string_view server) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(entries_, server, &Entry::server);
    if (found != entries_.end()) return found->counters;
    if (entries_.size() >= most) return entries_.back().counters;
    Entry& added = entries_.emplace_back();
    added.server = entries_.size() == most ? "others" : server;
    return added.counters;
  }

  /// `visit(entry)` for each entry. Adds none meanwhile.
  template <class Visit>
  void each(Visit&& visit) const {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_)
      visit(entry);
  }
  /// The sum of a counter of all nodes.
  template <class Value>
  std::uint64_t total(Value&& value) const {
    std::uint64_t sum = 0;
    each([&](const Entry& entry) { sum += value(entry.counters); });
    return sum;
  }

 private:
  mutable std::mutex mutex_;
  std::deque<Entry> entries_;
};

}  // namespace weir::redis
