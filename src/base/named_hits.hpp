// Hits of limits whose names have values of requests, counted by name: names are added as they
// occur, up to a bound, and stay as long as the process.
//
// Belongs to one worker, which adds names and counts; any thread may read (see counters.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/counters.hpp"

namespace weir {

/// Hits of a limit of the rate limit service, counted as envoyproxy/ratelimit does ("Statistics" in
/// its README).
struct HitCounters {
  Counter total;   ///< asked for
  Counter within;  ///< admitted
  Counter near;    ///< admitted above the near limit ratio
  Counter over;    ///< not admitted
  Counter shadow;  ///< not admitted by a shadow limit
};

class NamedHits {
 public:
  static constexpr std::size_t most_names = 1000;
  static constexpr std::size_t most_name_bytes = 256;

  NamedHits() = default;
  NamedHits(const NamedHits&) = delete;
  NamedHits& operator=(const NamedHits&) = delete;

  /// Returns the counters of a name, which is added. nullptr: it is too long, or new and there are
  /// too many others.
  HitCounters* find_or_add(std::string_view name);

  /// Calls `visit(name, hits)` for each name, the latest first. The name and the counters outlive
  /// the call.
  template <class Visit>
  void each(Visit&& visit) const {
    const Entry* entry = latest_.load(std::memory_order_acquire);
    for (; entry != nullptr; entry = entry->previous)
      visit(entry->name, entry->hits);
  }

 private:
  /// `name` and `previous` do not change once a reader can find it.
  struct Entry {
    HitCounters hits{};
    std::string_view name{};
    const Entry* previous = nullptr;
  };
  std::map<std::string, Entry, std::less<>> entries_;  ///< read by the worker alone
  std::atomic<const Entry*> latest_{nullptr};
};

}  // namespace weir
