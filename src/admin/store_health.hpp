// The state of Redis as the workers report it, for /readyz, the metrics and the log. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "admin/store_masters.hpp"
#include "base/log_limit.hpp"
#include "base/time.hpp"
#include "store/error.hpp"

namespace weir::admin {

/// The connection of one worker.
struct StoreStatus {
  bool connected = false;
  bool deciding = false;                   ///< connected, and Redis returns decisions
  std::string last_error{};                ///< why it is not deciding; never contains a secret
  store::Error kind = store::Error::none;  ///< of last_error
  bool is_explained = false;               ///< last_error has the text of an error
  friend bool operator==(const StoreStatus&, const StoreStatus&) = default;
};

/// The instances that use the same Redis with the same key prefix, as far as they are known.
struct InstancesStatus {
  std::uint64_t running = 1;    ///< with this one
  std::int64_t replicas = 1;    ///< smoothed: for replicas: auto
  std::uint64_t differing = 0;  ///< of them, that count in another way than this one
  std::string problem{};        ///< that they do, for /readyz and the log; empty: all count alike
};

/// Requests that were answered 503, because Redis did not decide and a policy has on_failure: deny.
/// The log has their number at most once a minute, also for stalls that are too short for the
/// breaker. Pure: counts and the time go in, what to log comes out. Not thread-safe.
class UndecidedRequests {
 public:
  using Counts = std::array<std::uint64_t, store::error_count>;  ///< by store::Error

  struct Report {
    Counts counts{};
    Duration within{0};  ///< since the first of them
  };

  void add(const Counts& counts, Instant now);
  /// Returns the report to log now: some seconds after the first request, so that one line has a
  /// whole stall, and a minute after the previous such report.
  std::optional<Report> take_due(Instant now);
  /// Returns it without waiting.
  std::optional<Report> take(Instant now);

 private:
  Counts counts_{};
  std::optional<Instant> first_at_;  ///< of those that were not taken yet
  LogLimit limit_{{.interval = std::chrono::minutes(1), .repeated_after = std::chrono::minutes(1)}};
};

class StoreHealth {
 public:
  /// The line to log after a report. `loss`: the last_error of the report. `later`: the same, but
  /// it was logged less than a minute ago; repeat the report until it is logged or outdated.
  enum class Line : std::uint8_t { none, loss, later, back };

  /// A worker that has reported nothing yet is not connected, which is no error.
  explicit StoreHealth(std::size_t workers) : workers_(workers, {.deciding = true}) {}

  /// Replaces the status of a worker, at once for is_up() and last_error(). Returns the line to
  /// log: `loss` for the first worker without Redis and for each further reason, each reason at
  /// most once a minute and a few of each kind; `back` when the last worker has Redis again, if the
  /// loss was logged.
  Line report(std::size_t worker, StoreStatus status, Instant now);

  /// Workers report another store from now on: its reasons are logged, also those that the former
  /// one had. `store`: its number, which increases; the first worker that has it counts.
  void begin(std::uint64_t store);

  /// Whether an error that Redis returned is to be logged: each kind once a minute, whichever
  /// worker received it.
  bool may_log(store::Error error, Instant now) { return errors_.may_log(to_string(error), now); }

  /// Adds requests of a worker that were answered 503. Returns those to log, of all workers: at
  /// most once a minute, and none during an outage whose loss was logged. `is_last`: the worker
  /// stops, so those so far are returned.
  std::optional<UndecidedRequests::Report> report_undecided(const UndecidedRequests::Counts& counts,
                                                            Instant now, bool is_last);

  /// A worker has found these masters of the store with the number of begin().
  void report_masters(std::uint64_t store, std::shared_ptr<const redis::MasterLayout> masters);
  /// Returns the line to log about a change of the masters, if one is due.
  std::optional<std::string> masters_change(Instant now);

  void report_instances(InstancesStatus status);
  InstancesStatus instances() const;

  /// Whether all workers are connected and Redis decides for them.
  bool is_up() const;
  /// The error of a worker for which Redis does not decide; empty if there is none.
  std::string last_error() const;

 private:
  bool is_deciding() const;
  Line line_of_loss(const StoreStatus& status, Instant now);

  mutable std::mutex mutex_;
  std::vector<StoreStatus> workers_;
  InstancesStatus instances_;
  LogLimit errors_{{.interval = std::chrono::minutes(1),
                    .most = store::error_count,
                    .repeated_after = std::chrono::minutes(1)}};
  struct LoggedReason {
    std::string text;
    store::Error kind;
    Instant at;
  };
  /// The reasons of this outage and of the last minute before it. A few of each kind, the latest
  /// last.
  std::vector<LoggedReason> logged_reasons_;
  bool is_loss_logged_ = false;      ///< and the return is not
  std::uint64_t store_ = 0;          ///< the number of begin()
  bool is_of_former_store_ = false;  ///< the loss that was logged last
  UndecidedRequests undecided_;
  StoreMasters masters_;
};

}  // namespace weir::admin
