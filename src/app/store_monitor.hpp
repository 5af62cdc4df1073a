// Reports the state of one worker's Redis: to admin::StoreHealth, and as log lines for the process.
//
// Pure but for the StoreHealth that the workers share: readings and the time go in, log lines come
// out. Belongs to one worker.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "admin/store_health.hpp"
#include "app/log.hpp"
#include "base/time.hpp"
#include "options/redis.hpp"
#include "redis/master_layout.hpp"
#include "store/error.hpp"

namespace weir::app {

/// The state of a shared store at one instant.
struct StoreReading {
  options::RedisTopology topology = options::RedisTopology::standalone;
  bool is_ready = false;    ///< connected, authenticated, scripts loaded
  bool is_partial = false;  ///< a node of a cluster, which answers for its own keys only
  store::Error connection_failure = store::Error::none;  ///< why it is not connected, if it is not
  bool has_decided = false;        ///< the last result on this connection was a decision
  bool is_breaker_closed = false;  ///< requests are sent to Redis
  /// The last failure of the connection, or the last error reply; empty if there is none.
  std::string_view redis_error{};
  std::string part{};  ///< for which keys Redis does not decide; empty: for all
  store::Error last_error = store::Error::none;  ///< the last reason for which Redis did not decide
  std::array<std::uint64_t, store::error_count> errors{};            ///< so far, by kind
  std::array<std::string_view, store::error_count> error_replies{};  ///< the last one of each kind
  admin::UndecidedRequests::Counts
      undecided{};  ///< requests that were answered 503 so far, by kind
  /// As redis::NodesStatus::masters.
  std::shared_ptr<const redis::MasterLayout> masters{};
};

class StoreMonitor {
 public:
  /// `worker`: its index among those that report to `health`.
  StoreMonitor(admin::StoreHealth& health, std::size_t worker) : health_(health), worker_(worker) {}

  /// The readings are those of another store from now on: as at the start, its first connection is
  /// enough. `store`: its number, the same for all workers.
  void begin(std::uint64_t store) {
    store_ = store;
    reported_ = {.deciding = true};
    is_reason_unlogged_ = false;
    health_.begin(store);
  }
  /// Reports what has changed since the last reading. Returns the lines to log: first the errors
  /// that Redis returned and an operator can correct, then a change of the masters, then the loss
  /// or the return of Redis, then how many requests were answered 503 in short stalls.
  std::vector<LogLine> update(const StoreReading& reading, Instant now);
  /// The last lines of a worker that stops: the requests that no line has yet.
  std::vector<LogLine> finish(const StoreReading& reading, Instant now);

 private:
  admin::StoreStatus status_of(const StoreReading& reading) const;
  void add_errors(const StoreReading& reading, Instant now, std::vector<LogLine>& lines);
  void add_masters(const StoreReading& reading, Instant now, std::vector<LogLine>& lines);
  void add_change(const StoreReading& reading, Instant now, std::vector<LogLine>& lines);
  void add_undecided(const StoreReading& reading, Instant now, bool is_last,
                     std::vector<LogLine>& lines);

  admin::StoreHealth& health_;
  std::size_t worker_;
  std::uint64_t store_ = 0;  ///< the number of begin()
  admin::StoreStatus reported_{.deciding = true};
  bool is_reason_unlogged_ = false;  ///< it was logged less than a minute ago
  std::array<std::uint64_t, store::error_count> errors_seen_{};
  admin::UndecidedRequests::Counts undecided_seen_{};
  std::shared_ptr<const redis::MasterLayout> masters_seen_;
};

}  // namespace weir::app
