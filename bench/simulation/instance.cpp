#include "simulation/instance.hpp"

#include "simulation/world.hpp"

namespace weir::simulation {

Masters::Node::Node(World& world, std::uint32_t instance, std::uint32_t master,
                    store::BreakerCounters& counters)
    : link(world, instance, master),
      breaker(link,
              {.timeout = world.settings().timeout,
               .failures = 5,
               .retry_after = std::chrono::seconds(1)},
              counters) {}

Masters::Masters(World& world, std::uint32_t instance)
    : world_(world), instance_(instance), nodes_(world.master_count()) {}

store::CircuitBreaker& Masters::breaker_of(std::uint32_t master) {
  auto& node = nodes_[master];
  if (node == nullptr) node = std::make_unique<Node>(world_, instance_, master, counters_);
  return node->breaker;
}
store::CircuitBreaker& Masters::breaker_of(const Hash128& identity) {
  return breaker_of(world_.master_of(World::key_of(identity)));
}

std::optional<store::Result> Masters::acquire(store::Acquisition& acquisition,
                                              store::Completion& completion, Instant now) {
  return breaker_of(acquisition.claims.front().identity).acquire(acquisition, completion, now);
}
std::optional<store::Result> Masters::peek(store::Acquisition& acquisition,
                                           store::Completion& completion, Instant now) {
  return breaker_of(acquisition.claims.front().identity).peek(acquisition, completion, now);
}
std::optional<store::Result> Masters::forget(const store::Key& key, store::Completion& completion,
                                             Instant now) {
  return breaker_of(key.identity).forget(key, completion, now);
}
void Masters::settle(std::span<const store::Settlement> settlements, Instant now) {
  for (const store::Settlement& settlement : settlements)
    breaker_of(settlement.key.identity).settle({&settlement, 1}, now);
}
bool Masters::is_trusted(const Hash128& identity) const {
  const auto& node = nodes_[world_.master_of(World::key_of(identity))];
  return node == nullptr || node->breaker.is_trusted();
}
bool Masters::read_generation(store::GenerationReceiver& receiver) {
  return breaker_of(world_.generation_master()).read_generation(receiver);
}
void Masters::probe(Instant now) {
  for (const auto& node : nodes_) {
    if (node != nullptr) node->breaker.probe(now);
  }
}

Instance::Instance(World& world, std::uint32_t number, std::size_t table_sets)
    : world_(world),
      masters_(world, number),
      local_({.max_keys = 4096, .seed = number}),
      chain_(masters_, local_,
             {.timeout = world.settings().timeout, .seed = number, .table_sets = table_sets},
             counters_) {
  const Settings& settings = world.settings();
  if (settings.has_leases) chain_.leases().use({.share = settings.share}, instant_at(0));
  world.events().add(tick_interval * number / settings.instances, *this);
}

void Instance::act(int, Nanoseconds now) {
  chain_.probe(instant_at(now));
  world_.events().add(now + tick_interval, *this);
}

}  // namespace weir::simulation
