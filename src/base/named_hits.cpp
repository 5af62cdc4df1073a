#include "base/named_hits.hpp"

namespace weir {

HitCounters* NamedHits::find_or_add(std::string_view name) {
  const auto found = entries_.find(name);
  if (found != entries_.end()) return &found->second.hits;
  if (name.size() > most_name_bytes || entries_.size() == most_names) return nullptr;
  const auto added = entries_.try_emplace(std::string(name)).first;
  Entry& entry = added->second;
  entry.name = added->first;
  entry.previous = latest_.load(std::memory_order_relaxed);
  latest_.store(&entry, std::memory_order_release);
  return &entry.hits;
}

}  // namespace weir
