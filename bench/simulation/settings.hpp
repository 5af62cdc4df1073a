// The settings of one simulated deployment and the assumptions of the model. Times of the model are
// nanoseconds since the start.
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace weir::simulation {

using Nanoseconds = std::int64_t;

constexpr Nanoseconds microsecond = 1'000;
constexpr Nanoseconds millisecond = 1'000'000;
constexpr double second = 1e9;

/// The instant of the stores' clock.
constexpr Instant instant_at(Nanoseconds at) {
  return instant_from_us(1'700'000'000'000'000 + at / microsecond);
}

struct Settings {
  std::uint32_t instances = 100;  ///< of one worker each
  std::uint32_t spread = 0;       ///< instances that have requests of a key; 0: all
  double requests = 100'000;      ///< a second, at all instances together
  std::uint32_t masters = 1;
  double zipf = 1;  ///< the key of rank r has 1 / r^zipf of the requests of the first
  std::int64_t keys = 1'000'000;
  int share = 10;  ///< leases: percent of a quota that an instance may hold
  bool has_leases = true;
  std::int64_t limit = 0;  ///< units a second, and at once; 0: a quarter of the first key's demand
  double seconds = 1;      ///< that are measured
  double warm_up = 0.8;    ///< seconds before; the load grows in the first half
  bool starts_cold = false;  ///< the whole load comes at once, when no instance has a lease
  std::uint64_t seed = 1;

  double most_simulated = 1'000'000;   ///< requests a second; a deployment with more is sampled
  double sampled_of_stratum = 20'000;  ///< requests a second
  std::uint32_t most_masters = 32;     ///< that are modelled if the deployment is sampled

  Nanoseconds call = 8 * microsecond;             ///< of a master's time, for each call
  Nanoseconds decision = 4 * microsecond;         ///< for each decision of a call
  Nanoseconds held_decision = 12 * microsecond;   ///< for each that holds or settles units
  Nanoseconds beside_holds = 8 * microsecond;     ///< for each other one, of a policy with leases
  Nanoseconds generation = 1 * microsecond;       ///< for each read of the overrides' generation
  Nanoseconds least_latency = 100 * microsecond;  ///< one way
  Nanoseconds mean_jitter = 50 * microsecond;     ///< in addition, exponentially distributed
  Nanoseconds pass = 50 * microsecond;  ///< of a worker's loop: its questions leave at the end
  Duration timeout = std::chrono::milliseconds(25);
};

}  // namespace weir::simulation
