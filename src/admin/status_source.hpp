// The status of the running process, for the status page.
//
// A status is read once a second, whatever the number of routes. One or two cache lines of each
// worker show whether a route or a policy has counted anything since the status before. Only those
// that have are read and listed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "admin/instruments.hpp"
#include "admin/process_stats.hpp"
#include "base/time.hpp"
#include "status/status.hpp"

namespace weir::admin {

/// Used by one thread.
class StatusSource {
 public:
  /// Lists the routes and policies that have changed since the status before; all of them in the
  /// first status of a configuration. If it throws, the next status lists all of them, too.
  status::Status read(const std::shared_ptr<const Instruments>& shown, const ProcessStats& process,
                      Instant now);
  /// The next status lists all routes and policies.
  void restart() { known_.reset(); }

 private:
  struct KnownRoute {
    std::size_t index = 0;      ///< of NamedCounters::routes
    std::uint64_t counted = 0;  ///< the sum of its counters
    bool has_changed = false;
  };
  /// The numbers of a policy that the status shows.
  struct PolicyNumbers {
    std::array<std::uint64_t, 5> decisions{};  ///< by outcome
    std::array<std::int64_t, 3> units{};       ///< held, queued, leased

    bool operator==(const PolicyNumbers&) const = default;
  };
  struct KnownPolicy {
    bool holds = false, queues = false, leases = false;
    PolicyNumbers numbers{};
  };

  void learn(const Instruments& in);
  void list_routes(const Instruments& in, status::Status& to);
  void list_policies(const Instruments& in, status::Status& to);
  static PolicyNumbers numbers_of(const Instruments& in, std::size_t index,
                                  const KnownPolicy& known);
  static status::Policy policy_status(const Instruments& in, std::size_t index,
                                      const KnownPolicy& known);

  std::weak_ptr<const Instruments> known_;  ///< that the lists below belong to
  std::vector<KnownRoute> routes_;          ///< each name once
  std::vector<KnownPolicy> policies_;
};

}  // namespace weir::admin
