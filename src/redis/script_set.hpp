// The scripts of a store: one for each set of algorithms that the claims of a request can have.
// Pure.
//
// Grows when the configuration changes; a script keeps its index.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/script.hpp"

namespace weir::redis {

class ScriptSet {
 public:
  ScriptSet(const std::vector<AlgorithmSet>& sets, Clock clock) : clock_(clock) { add(sets); }

  /// Adds scripts for the sets that have none.
  void add(const std::vector<AlgorithmSet>& sets);

  /// The index of the script made for these algorithms, else of the one with the fewest others;
  /// nothing if no script has all of them. A script decides either with holds or without, and one
  /// request or several.
  std::optional<std::size_t> find(AlgorithmSet algorithms) const;

  /// The same, of claims that hold or of several requests: made when it is first used.
  std::size_t find_or_add(AlgorithmSet algorithms);

  Clock clock() const { return clock_; }
  const std::vector<AlgorithmSet>& sets() const { return sets_; }
  /// By index. The vector stays in its place.
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  static constexpr std::uint16_t none = 0xffff;

  Clock clock_;
  std::vector<AlgorithmSet> sets_;
  std::vector<std::string> texts_;
  std::array<std::uint16_t, algorithm_sets_end> choice_{};  ///< by set of algorithms
};

/// The SHA-1 that SCRIPT LOAD returned for each script. Pure; not thread-safe.
class ScriptShas {
 public:
  /// By index of the script; empty until the script has been loaded. Valid until the next set().
  std::string_view sha(std::size_t script) const {
    return script < shas_.size() ? std::string_view(shas_[script]) : std::string_view{};
  }
  /// Redis has loaded the script.
  void set(std::size_t script, std::string_view sha) {
    if (script >= shas_.size()) shas_.resize(script + 1);
    shas_[script] = sha;
  }

 private:
  std::vector<std::string> shas_;
};

}  // namespace weir::redis
