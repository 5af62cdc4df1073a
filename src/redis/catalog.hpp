// The data that all nodes of a store use: the names of the policies, the scripts, and how keys are
// named.
//
// Grows when the configuration changes; an index keeps its meaning. Pure; belongs to one worker.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis/question_command.hpp"
#include "redis/script_set.hpp"
#include "store/claim.hpp"

namespace weir::redis {

/// The policies and scripts of one configuration.
struct CatalogEntries {
  std::vector<std::string> policy_names;  ///< by Claim::policy_id
  /// Every set of algorithms that a request's claims can have together, each once; their scripts
  /// are loaded when connecting. A request with another set is a programming error and fails with
  /// Error::other.
  std::vector<AlgorithmSet> algorithm_sets{};
  /// By Claim::policy_id: some claims of the policy hold, so all of them are decided beside holds.
  std::vector<bool> holding_policies{};
};

class Catalog {
 public:
  /// `clock`: argument (tests): the scripts take acquire()'s `now`.
  Catalog(std::string_view key_prefix, CatalogEntries entries, Clock clock = Clock::server)
      : prefix_(key_prefix), scripts_({}, clock) {
    extend(std::move(entries));
  }
  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;

  /// Prepares for another configuration. `policy_names` begin with those there are. Holding
  /// policies remain, because their units may still be held.
  void extend(CatalogEntries entries) {
    if (holding_.size() < entries.holding_policies.size())
      holding_.resize(entries.holding_policies.size());
    for (std::size_t i = 0; i < entries.holding_policies.size(); ++i)
      if (entries.holding_policies[i]) holding_[i] = true;
    policy_names_ = std::move(entries.policy_names);
    keys_ = {.prefix = prefix_, .policy_names = policy_names_};
    scripts_.add(entries.algorithm_sets);
  }

  const KeySpace& keys() const { return keys_; }
  const ScriptSet& scripts() const { return scripts_; }
  ScriptSet& scripts() { return scripts_; }
  /// Whether these claims are decided beside holds.
  bool holds(std::span<const store::Claim> claims) const {
    return std::ranges::any_of(claims, [this](const store::Claim& claim) {
      return claim.holds || (claim.policy_id < holding_.size() && holding_[claim.policy_id]);
    });
  }

 private:
  const std::string prefix_;
  std::vector<std::string> policy_names_;
  KeySpace keys_;
  ScriptSet scripts_;
  std::vector<bool> holding_;
};

}  // namespace weir::redis
