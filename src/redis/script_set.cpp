#include "redis/script_set.hpp"

#include <algorithm>
#include <bit>

namespace weir::redis {

namespace {

/// The flags of a set that are no algorithms. A script with other flags cannot replace it.
constexpr AlgorithmSet set_kinds = with_holds | joins_requests;

}  // namespace

void ScriptSet::add(const std::vector<AlgorithmSet>& sets) {
  for (const AlgorithmSet set : sets) {
    if (std::find(sets_.begin(), sets_.end(), set) != sets_.end()) continue;
    sets_.push_back(set);
    texts_.push_back(script_for(set, clock_));
  }
  choice_.fill(none);
  for (std::size_t wanted = 1; wanted < choice_.size(); ++wanted) {
    std::uint16_t& choice = choice_[wanted];
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      const bool has_all =
          (sets_[i] & wanted) == wanted && (sets_[i] & set_kinds) == (wanted & set_kinds);
      if (!has_all) continue;
      if (choice == none || std::popcount(sets_[i]) < std::popcount(sets_[choice]))
        choice = static_cast<std::uint16_t>(i);
    }
  }
}

std::size_t ScriptSet::find_or_add(AlgorithmSet algorithms) {
  const auto found = find(algorithms);
  if (found) return *found;
  add({algorithms});
  return sets_.size() - 1;
}

std::optional<std::size_t> ScriptSet::find(AlgorithmSet algorithms) const {
  const std::uint16_t choice = choice_[algorithms];
  return choice == none ? std::nullopt : std::optional<std::size_t>(choice);
}

}  // namespace weir::redis
