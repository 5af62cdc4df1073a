#include "app/algorithm_sets.hpp"

#include <bitset>
#include <variant>

namespace weir::app {
namespace {

using Sets = std::bitset<256>;  // by the set's own bits
constexpr std::size_t empty_set = 0;

bool is_always_there(const limiter::Settings& config, std::size_t identity) {
  return std::holds_alternative<identity::FromClientAddress>(
      config.identities[identity].source.from);
}

bool always_applies(const limiter::Settings& config, const limiter::Limit& limit) {
  if (limit.when || limit.unless) return false;
  return limit.required || is_always_there(config, limit.identity) ||
         (limit.otherwise && is_always_there(config, *limit.otherwise));
}

Sets sets_of(const limiter::Settings& config, std::span<const limiter::Limit> limits) {
  Sets sets;
  sets.set(empty_set);
  for (const limiter::Limit& limit : limits) {
    const std::size_t bit = redis::set_of(config.policies[limit.policy].numbers.algorithm);
    Sets with = always_applies(config, limit) ? Sets{} : sets;
    for (std::size_t set = 0; set < sets.size(); ++set) {
      if (sets[set]) with.set(set | bit);
    }
    sets = with;
  }
  return sets;
}

}  // namespace

std::vector<redis::AlgorithmSet> algorithm_sets(
    const limiter::Settings& config, std::span<const std::span<const limiter::Limit>> routes) {
  Sets all;
  for (const std::span<const limiter::Limit> limits : routes)
    all |= sets_of(config, limits);
  all.reset(empty_set);
  // A path that can be read in several ways is charged to the limits of several routes.
  std::size_t of_all_routes = empty_set;
  for (std::size_t set = 0; set < all.size(); ++set) {
    if (all[set]) of_all_routes |= set;
  }
  all.set(of_all_routes, of_all_routes != empty_set);
  std::vector<redis::AlgorithmSet> list;
  for (std::size_t set = 0; set < all.size(); ++set) {
    if (all[set]) list.push_back(static_cast<redis::AlgorithmSet>(set));
  }
  return list;
}

}  // namespace weir::app
