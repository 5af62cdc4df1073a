// A simulated instance of one worker: the chain of the program before modelled connections.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simulation/events.hpp"
#include "simulation/master_link.hpp"
#include "simulation/settings.hpp"
#include "store/chain.hpp"
#include "store/circuit_breaker.hpp"

namespace weir::simulation {

/// The masters as one store with a circuit breaker for each. A connection begins with its first
/// use.
class Masters final : public store::GuardedStore {
 public:
  Masters(World& world, std::uint32_t instance);

  std::optional<store::Result> acquire(store::Acquisition& acquisition,
                                       store::Completion& completion, Instant now) override;
  std::optional<store::Result> peek(store::Acquisition& acquisition, store::Completion& completion,
                                    Instant now) override;
  std::optional<store::Result> forget(const store::Key& key, store::Completion& completion,
                                      Instant now) override;
  void settle(std::span<const store::Settlement> settlements, Instant now) override;
  bool is_trusted(const Hash128& identity) const override;
  bool read_generation(store::GenerationReceiver& receiver) override;
  void probe(Instant now) override;
  void set_breaker(int, Duration) override {}
  store::NodeControl::State state() const override { return store::NodeControl::State::closed; }
  store::Error last_error() const override { return store::Error::none; }

 private:
  struct Node {
    Node(World& world, std::uint32_t instance, std::uint32_t master,
         store::BreakerCounters& counters);
    MasterLink link;
    store::CircuitBreaker breaker;
  };
  store::CircuitBreaker& breaker_of(std::uint32_t master);
  store::CircuitBreaker& breaker_of(const Hash128& identity);

  World& world_;
  std::uint32_t instance_;
  store::BreakerCounters counters_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

class Instance final : public Actor {
 public:
  static constexpr Nanoseconds tick_interval = 100 * millisecond;

  Instance(World& world, std::uint32_t number, std::size_t table_sets);

  store::Store& front() { return chain_.front(); }
  /// A tick of the worker.
  void act(int step, Nanoseconds now) override;

 private:
  World& world_;
  store::ChainCounters counters_;
  Masters masters_;
  store::MemoryStore local_;
  store::Chain chain_;
};

}  // namespace weir::simulation
