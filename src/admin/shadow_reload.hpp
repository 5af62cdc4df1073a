// A configuration that is decided in shadow, beside the running one, before it replaces it: its
// state for the admin server. Thread-safe: the process writes, the admin server reads.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/counters.hpp"
#include "base/time.hpp"
#include "json/write.hpp"
#include "status/status.hpp"

namespace weir::admin {

/// The latest configuration that was tried, and what its decisions were so far.
struct ShadowState {
  enum class Stage : std::uint8_t {
    none,     ///< none has been tried
    shadow,   ///< it is in shadow now
    done,     ///< it has replaced the running one
    dropped,  ///< it has not, for `reason`
  };
  Stage stage = Stage::none;
  std::string hash{};           ///< of the configuration, 64 hexadecimal digits
  Instant until{};              ///< the end of the period in shadow
  std::int64_t max_flips = 0;   ///< the share of decisions that may flip, in millionths
  std::uint64_t decisions = 0;  ///< compared
  std::uint64_t flips = 0;      ///< of them
  std::uint64_t skipped = 0;    ///< requests and calls that were not compared
  std::string reason{};
};

std::string_view to_string(ShadowState::Stage stage);

/// `0.5%`, with as many decimals as it needs.
std::string percent_text(std::int64_t millionths);

/// The state as text and numbers.
status::ShadowReload shadow_status(const ShadowState& state);

/// The state as members of a JSON object.
void add_members(json::Object& to, const ShadowState& state);

class ShadowReload {
 public:
  // Counts of all configurations that were tried since the start.
  Counter decisions, flips, skipped;  ///< written by the thread that compares
  Counter done, dropped, replaced;    ///< written by the server's thread

  void set(ShadowState state) {
    const std::lock_guard lock(mutex_);
    state_ = std::move(state);
  }
  ShadowState state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }

 private:
  mutable std::mutex mutex_;
  ShadowState state_;
};

}  // namespace weir::admin
