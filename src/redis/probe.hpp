// An acquisition without a request, which tests whether Redis decides. It charges a key of its own,
// which expires within a minute: a server that only reads fails it too.
#pragma once

#include <bit>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "redis/script.hpp"
#include "store/store.hpp"

namespace weir::redis {

class Probe {
 public:
  /// `sets`: the sets whose scripts are loaded. `policy_id`: an id that no policy has.
  Probe(const std::vector<AlgorithmSet>& sets, std::uint32_t policy_id) : policy_id_(policy_id) {
    use(sets);
  }
  /// As in the constructor, if there were no scripts before.
  void use(const std::vector<AlgorithmSet>& sets) {
    // High enough that no probe is denied: a denial would write nothing.
    constexpr rules::Rate rate{.count = 10'000, .per = std::chrono::seconds(1)};
    if (sets.empty()) return;
    const auto algorithm = static_cast<rules::Algorithm>(std::countr_zero(sets.front()));
    rules::Definition definition{.algorithm = algorithm};
    if (algorithm == rules::Algorithm::concurrency) {
      definition.limit = rate.count;
    } else {
      definition.rates = {rate};
    }
    policy_ = rules::compile(definition).value();
    claim_ = {.policy = &*policy_,
              .identity = {},
              .policy_id = policy_id_,
              .shadow = false,
              .demand = {.cost = 1},
              .attributes = {}};
    acquisition_.claims = {&claim_, 1};
    acquisition_.decisions = {&decision_, 1};
  }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  /// False: no script is loaded, because no route has limits.
  bool can_ask() const { return policy_.has_value(); }
  /// For one call at a time, until its result.
  store::Acquisition& acquisition(const Hash128& identity, Instant now) {
    claim_.identity = identity;
    acquisition_.arrived_at = now;
    return acquisition_;
  }

 private:
  std::uint32_t policy_id_;
  std::optional<rules::Policy> policy_;
  store::Claim claim_;
  rules::Decision decision_;
  store::Acquisition acquisition_;
};

}  // namespace weir::redis
