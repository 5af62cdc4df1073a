// A simulated deployment: requests at random instants, instances, masters, and the virtual time.
//
// Every key has one policy, `gcra` with `limit` units a second, and every request costs one unit.
// Requests come at independent random instants and go to any instance. Deterministic by the seed.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "rules/policy.hpp"
#include "simulation/events.hpp"
#include "simulation/instance.hpp"
#include "simulation/key_sample.hpp"
#include "simulation/master.hpp"
#include "simulation/master_link.hpp"
#include "simulation/measures.hpp"
#include "simulation/settings.hpp"

namespace weir::simulation {

class World final : public Actor {
 public:
  explicit World(const Settings& settings);

  void run();

  const Settings& settings() const { return settings_; }
  Events& events() { return events_; }
  Measures& measures() { return measures_; }
  const Measures& measures() const { return measures_; }
  const KeySample& sample() const { return sample_; }
  const rules::Policy& policy() const { return policy_; }
  std::int64_t limit() const { return limit_; }
  Nanoseconds now() const { return now_; }
  /// Returns the time of the way between an instance and a master, at random.
  Nanoseconds latency();

  static std::uint32_t key_of(const Hash128& identity) {
    return static_cast<std::uint32_t>(identity.high);
  }
  static Hash128 identity_of(std::uint32_t key) {
    return {.low = (key + 1) * 0x9e3779b97f4a7c15, .high = key};
  }
  Master& master(std::uint32_t number) { return *masters_[number]; }
  std::uint32_t master_count() const { return static_cast<std::uint32_t>(masters_.size()); }
  std::uint32_t master_of(std::uint32_t key) const {
    return is_sampled_ ? key % master_count() : slot_of(key) % master_count();
  }
  /// A single master joins questions of any keys.
  std::uint32_t slot_of(std::uint32_t key) const;
  std::uint32_t generation_master() const { return master_count() - 1; }

  Call& take_call();
  void give_back(Call& call) { free_calls_.push_back(&call); }
  /// The store has admitted a request of the key, or an instance from its lease.
  void note_admission(std::uint32_t key, Nanoseconds at);

  bool is_sampled() const { return is_sampled_; }
  /// The parts of their time that the masters worked: the mean, and that of the busiest.
  struct Load {
    double mean = 0;
    double busiest = 0;
  };
  Load load() const;
  /// The greatest number of units by which a key exceeds its limit: by the store and the leases, or
  /// by what all instances have decided alone.
  std::int64_t excess() const;

 private:
  struct Request final : store::Completion {
    explicit Request(World& its_world) : world(its_world) {}
    void complete(const store::Result& result, Instant) noexcept override {
      world.finish(*this, result);
    }
    World& world;
    store::Claim claim;
    rules::Decision decision;
    store::Acquisition acquisition;
    std::uint32_t key = 0;
    std::uint32_t instance = 0;
    Nanoseconds arrived_at = 0;
  };

  /// Every 100 ms: the load of the keys that are not simulated.
  void act(int step, Nanoseconds now) override;
  void begin_request();
  void finish(Request& request, const store::Result& result);
  Request& take_request();
  /// Returns the instance of a request of the key, at random.
  std::uint32_t instance_of(std::uint32_t key);

  const Settings settings_;
  Random random_;
  KeySample sample_;
  bool is_sampled_;
  std::int64_t limit_;
  rules::Policy policy_;
  std::optional<rules::Policy> share_;
  std::shared_ptr<Gauge> units_ = std::make_shared<Gauge>();
  Events events_;
  Measures measures_;
  Nanoseconds now_ = 0;
  std::vector<std::unique_ptr<Master>> masters_;
  std::vector<Nanoseconds> worked_;  ///< by the masters until begin()
  std::vector<std::unique_ptr<Instance>> instances_;
  std::deque<Request> requests_;
  std::vector<Request*> free_requests_;
  std::deque<Call> calls_;
  std::vector<Call*> free_calls_;
  std::vector<std::vector<std::int64_t>> admissions_;  ///< by key
  std::vector<std::vector<std::int64_t>> alone_;       ///< by key
};

}  // namespace weir::simulation
