#include "upstream/balancer.hpp"

namespace weir::upstream {

Balancer::Balancer(options::Balance balance, const std::vector<options::Server>& servers)
    : balance_(balance) {
  for (const auto& server : servers)
    turns_.push_back({.weight = server.weight});
}

std::optional<std::size_t> Balancer::choose(const ServerSet& eligible,
                                            std::span<const std::uint32_t> active) {
  if (balance_ == options::Balance::round_robin) return next_in_turn(eligible);
  return next_in_turn(least_busy(eligible, active));
}

ServerSet Balancer::least_busy(const ServerSet& eligible,
                               std::span<const std::uint32_t> active) const {
  ServerSet level;
  std::size_t best = 0;
  for (std::size_t i = 0; i < turns_.size(); ++i) {
    if (!eligible[i]) continue;
    // active / weight, compared without dividing
    const std::int64_t mine = active[i] * turns_[best].weight;
    const std::int64_t its = active[best] * turns_[i].weight;
    if (level.none() || mine < its) {
      level.reset();
      best = i;
    } else if (mine > its) {
      continue;
    }
    level.set(i);
  }
  return level;
}

std::optional<std::size_t> Balancer::next_in_turn(const ServerSet& eligible) {
  std::optional<std::size_t> richest;
  std::int64_t credited = 0;
  for (std::size_t i = 0; i < turns_.size(); ++i) {
    if (!eligible[i]) continue;
    Turn& turn = turns_[i];
    turn.credit += turn.weight;
    credited += turn.weight;
    if (!richest || turn.credit > turns_[*richest].credit) richest = i;
  }
  if (richest) turns_[*richest].credit -= credited;
  return richest;
}

}  // namespace weir::upstream
