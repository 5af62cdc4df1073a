// The state of Redis as the workers report it, for /readyz, the metrics and the log. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "store/error.hpp"

namespace weir::admin {

/// The connection of one worker.
struct StoreStatus {
  bool connected = false;
  bool deciding = false;     ///< connected, and Redis returns decisions
  std::string last_error{};  ///< why it is not deciding; never contains a secret
  friend bool operator==(const StoreStatus&, const StoreStatus&) = default;
};

/// The instances that use the same Redis with the same key prefix, as far as they are known.
struct InstancesStatus {
  std::uint64_t running = 1;    ///< with this one
  std::uint64_t differing = 0;  ///< of them, that count in another way than this one
  std::string problem{};        ///< which settings differ; empty: none
};

class StoreHealth {
 public:
  enum class Change : std::uint8_t { none, lost, back };

  /// A worker that has reported nothing yet is not connected, which is no error.
  explicit StoreHealth(std::size_t workers) : workers_(workers, {.deciding = true}) {}

  /// Replaces the status of a worker. Returns what that changes for the process: `lost` for the
  /// first worker without Redis, `back` when the last of them has it again.
  Change report(std::size_t worker, StoreStatus status);

  /// Whether an error that Redis returned is to be logged: each kind once a minute, whichever
  /// worker received it.
  bool may_log(store::Error error, Instant now);

  void report_instances(InstancesStatus status);
  InstancesStatus instances() const;

  /// Whether all workers are connected and Redis decides for them.
  bool is_up() const;
  /// Whether a reason for which Redis does not decide is to be logged: if it is not the one that
  /// was logged last, and each one at most once a minute.
  bool may_log_reason(const std::string& reason, Instant now);
  /// The error of a worker for which Redis does not decide; empty if there is none.
  std::string last_error() const;

 private:
  bool is_deciding() const;

  mutable std::mutex mutex_;
  std::vector<StoreStatus> workers_;
  InstancesStatus instances_;
  std::array<std::optional<Instant>, store::error_count> logged_at_;
  struct LoggedReason {
    std::string text;
    Instant at;
  };
  std::vector<LoggedReason> logged_reasons_;  ///< since Redis was lost, a few, the latest last
};

}  // namespace weir::admin
