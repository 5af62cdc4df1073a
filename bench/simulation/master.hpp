// A modelled master of Redis: serves one call after the other, with the state of its keys in a real
// memory store. Calls of keys that are not simulated occupy it at random instants.
#pragma once

#include <cstdint>
#include <random>

#include "simulation/key_sample.hpp"
#include "simulation/settings.hpp"
#include "store/memory_store.hpp"

namespace weir::simulation {

class Master {
 public:
  Master(std::size_t keys, std::uint64_t seed)
      : store_({.max_keys = 2 * keys + 4096, .seed = seed}), random_(seed) {}

  /// Returns when a call that reaches it now has been served. In the order of the arrivals.
  Nanoseconds serve(Nanoseconds arrival, Nanoseconds service);
  /// From now on: `load` is the part of its time that calls of `service` each take.
  void set_background(Nanoseconds now, double load, Nanoseconds service);

  store::MemoryStore& store() { return store_; }
  /// The time that the simulated calls have taken so far.
  Nanoseconds worked() const { return worked_; }
  Nanoseconds background_worked() const { return background_worked_; }

 private:
  Nanoseconds gap() {
    return 1 + static_cast<Nanoseconds>(std::exponential_distribution<double>(rate_)(random_));
  }

  store::MemoryStore store_;
  Random random_;
  Nanoseconds free_at_ = 0;
  Nanoseconds worked_ = 0;
  // Calls of keys that are not simulated.
  double rate_ = 0;  ///< a nanosecond
  Nanoseconds next_at_ = 0;
  Nanoseconds service_ = 0;
  Nanoseconds background_worked_ = 0;
};

}  // namespace weir::simulation
