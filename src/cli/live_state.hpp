// The state of a limit's key in a running instance: the answer of /v1/limits. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace weir::cli {

struct LiveState {
  std::string problem{};  ///< why the instance has no such state; then nothing below is set
  std::string store{};    ///< memory or redis
  std::string from{};     ///< of the numbers: policy, plan or override
  bool is_unlimited = false;
  bool is_denied = false;      ///< by an override
  std::int64_t limit = 0;      ///< 0 if it is unlimited or denied
  std::int64_t remaining = 0;  ///< units that would pass now
  std::int64_t held = 0;       ///< units of requests in progress
  Duration reset_after{0};
  std::optional<Duration> retry_after{};  ///< until something is left; none: something is
};

/// Reads the answer. Empty: this is not an answer of Weir.
std::optional<LiveState> read_live_state(std::string_view body);

/// Returns the hash in an answer of /v1/config. Empty: this is not an answer of Weir.
std::optional<std::string> read_config_hash(std::string_view body);

}  // namespace weir::cli
