// The results of one simulated deployment: counts by stratum of keys, latencies, and the figures of
// the first key. Nothing is counted before begin().
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "simulation/key_sample.hpp"
#include "simulation/settings.hpp"

namespace weir::simulation {

/// Latencies in buckets, each 1/8 longer than the one before.
class Latencies {
 public:
  void add(Nanoseconds latency, double weight);
  double mean_us() const { return total_ > 0 ? sum_us_ / total_ : 0; }
  double quantile_us(double part) const;

 private:
  std::array<double, 160> buckets_{};
  double total_ = 0;
  double sum_us_ = 0;
};

struct Counts {
  double requests = 0;
  double calls = 0;   ///< a call that several decisions share counts for each by its part
  double leased = 0;  ///< decided without a call, by a lease
  double alone = 0;   ///< decided by on_failure
  double work = 0;    ///< nanoseconds of masters
};

/// How one instance decides about the first key.
struct OfInstance {
  std::uint64_t requests = 0;
  std::uint64_t admitted = 0;
  std::int64_t unused = 0;  ///< units that it holds and has not spent
};

class Measures {
 public:
  Measures(const KeySample& sample, std::uint32_t instances)
      : sample_(sample),
        strata_(sample.strata().size()),
        recent_work_(sample.keys().size()),
        first_key_(instances) {}

  void begin() { is_measuring_ = true; }

  struct Decided {
    std::uint32_t key = 0;
    std::uint32_t instance = 0;
    Nanoseconds latency = 0;
    bool is_measured = false;  ///< it arrived after begin()
    bool is_admitted = false;
    bool is_leased = false;
    bool is_alone = false;
  };
  void note(const Decided& decided);
  /// A part of a call about a key.
  void note_work(std::uint32_t key, double calls, Nanoseconds work);
  /// Work of a master that concerns no key.
  void note_shared_work(Nanoseconds work) {
    if (is_measuring_) shared_work_ += static_cast<double>(work);
  }
  /// An instance has got units of the first key, or has none of them any more.
  void note_units(std::uint32_t instance, std::int64_t change);

  /// The work since the last call, in nanoseconds.
  struct Work {
    double others = 0;              ///< about keys of all strata but the first `hot`, estimated
    std::vector<double> simulated;  ///< by master: about such keys that are simulated
  };
  /// Key i is at master i % masters.
  Work take_work(std::uint32_t hot, std::uint32_t masters);

  bool is_measuring() const { return is_measuring_; }
  const Latencies& latencies() const { return latencies_; }
  /// The counts of all keys, also those that are not simulated.
  Counts total() const;
  const Counts& of_first_key() const { return strata_.front(); }
  /// The largest and the mean difference between the admission ratio of one instance and that of
  /// all, for the first key; negative: too few requests.
  struct Unfairness {
    double largest = -1;
    double mean = -1;
  };
  Unfairness unfairness() const;
  /// The mean number of units in leases of other instances when a request of the first key is
  /// denied.
  double stranded() const { return denials_ > 0 ? stranded_ / denials_ : 0; }
  double admission_ratio() const;

 private:
  const KeySample& sample_;
  bool is_measuring_ = false;
  Latencies latencies_;
  std::vector<Counts> strata_;
  double shared_work_ = 0;
  std::vector<double> recent_work_;  ///< by key, since take_work()
  std::vector<OfInstance> first_key_;
  std::int64_t unused_ = 0;  ///< units of the first key, at all instances
  double stranded_ = 0;
  double denials_ = 0;
};

}  // namespace weir::simulation
