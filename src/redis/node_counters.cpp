#include "redis/node_counters.hpp"

#include <algorithm>

namespace weir::redis {

NodeCounters& NodeCountersList::of(std::string_view server) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(entries_, server, &Entry::server);
  if (found != entries_.end()) return found->counters;
  if (entries_.size() >= most) return entries_.back().counters;
  Entry& added = entries_.emplace_back();
  added.server = entries_.size() == most ? "others" : server;
  return added.counters;
}

}  // namespace weir::redis
