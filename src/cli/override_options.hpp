// The options of `weir limits override`, and what is wrong with them whatever the instance has.
// Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/admin_call.hpp"

namespace weir::cli {

/// The key that overrides belong to.
struct OverrideTarget : AdminTarget {
  std::string identity;
  std::string key;  ///< `-`: standard input has it
  std::string policy;
};

struct OverrideOptions : OverrideTarget {
  std::optional<std::string> rate;
  std::vector<std::string> rates;
  std::optional<std::int64_t> burst;
  std::optional<std::int64_t> limit;
  std::optional<std::int64_t> queue;
  std::string plan;
  bool denies = false;
  bool is_unlimited = false;
  bool removes = false;
  std::string until;
  std::optional<std::string> note;
};

/// Returns which options are wrong, and what to write; empty if only the instance can find more.
std::string wrong_usage_of(const OverrideOptions& options);

}  // namespace weir::cli
