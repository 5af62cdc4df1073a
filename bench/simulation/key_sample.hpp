// The keys of a deployment, with Zipf's law, and the ones of them that are simulated.
//
// The ranks are divided into strata: 1, 2 and 3, 4 to 7, and so on. If not all requests are
// simulated, each stratum has some of its keys, evenly spaced, with all their requests. A count of
// a stratum is multiplied by `weight`, the requests of all its keys divided by those of the
// simulated ones. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "simulation/settings.hpp"

namespace weir::simulation {

using Random = std::mt19937_64;

struct Stratum {
  double rate = 0;          ///< requests a second, of all its keys
  double sampled_rate = 0;  ///< of the simulated ones
  double weight() const { return sampled_rate > 0 ? rate / sampled_rate : 0; }
};

struct SampledKey {
  std::int64_t rank = 1;
  std::uint32_t stratum = 0;
  double rate = 0;  ///< requests a second
};

class KeySample {
 public:
  explicit KeySample(const Settings& settings);

  const std::vector<SampledKey>& keys() const { return keys_; }  ///< by rank
  const std::vector<Stratum>& strata() const { return strata_; }
  /// Requests a second of the simulated keys.
  double rate() const { return rate_; }
  /// The key of one request: an index of keys().
  std::size_t pick(Random& random) const;

 private:
  void take(const Settings& settings, std::int64_t first, std::int64_t count, double total);
  void build_aliases();

  std::vector<SampledKey> keys_;
  std::vector<Stratum> strata_;
  double rate_ = 0;
  // A. J. Walker's alias method: a column has its key up to `part`, and another one above.
  std::vector<double> parts_;
  std::vector<std::uint32_t> aliases_;
};

}  // namespace weir::simulation
