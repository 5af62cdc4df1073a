// The data that all nodes of a store use: the names of the policies, the scripts, and how keys are
// named.
//
// Grows when the configuration changes; an index keeps its meaning. Pure; belongs to one worker.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
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
  void extend(CatalogEntries entries);

  const KeySpace& keys() const { return keys_; }
  const ScriptSet& scripts() const { return scripts_; }
  ScriptSet& scripts() { return scripts_; }
  /// Whether these claims are decided beside holds.
  bool holds(std::span<const store::Claim> claims) const;

 private:
  const std::string prefix_;
  std::vector<std::string> policy_names_;
  KeySpace keys_;
  ScriptSet scripts_;
  std::vector<bool> holding_;
};

}  // namespace weir::redis
