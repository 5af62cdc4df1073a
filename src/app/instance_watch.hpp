// Decides when this process announces itself to the others that use the same Redis, and what to
// report about them.
//
// An instance that has stopped is listed for a while. So another instance is reported when it has
// announced itself again since it was first seen. It counts for `replicas: auto` at once. Pure but
// for the StoreHealth that /readyz and the metrics read. Belongs to one worker of the process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admin/store_health.hpp"
#include "app/log.hpp"
#include "app/replica_count.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "redis/instances.hpp"

namespace weir::app {

class InstanceWatch {
 public:
  static constexpr Duration interval = std::chrono::seconds(5);

  /// Values that follow from a configuration.
  struct Terms {
    std::shared_ptr<const redis::Announcement> announcement{};
    std::optional<std::int64_t> replicas = 1;  ///< empty: auto
    bool decides_locally = false;              ///< a policy has on_failure: local
  };

  /// `id`: random, of the process.
  InstanceWatch(admin::StoreHealth& health, std::uint64_t id);

  Terms terms_of(const config::Config& config) const;
  /// From now on. Forgets the others if Redis is another one.
  void use(Terms terms, bool is_other_store) noexcept;
  /// The announcement to send, at most once in each interval; nullptr: none is due.
  std::shared_ptr<const redis::Announcement> due(Instant now);
  /// The reply to an announcement. Returns the lines to log about changes.
  std::vector<LogLine> update(const redis::OtherInstances& others, Instant now);
  /// The instances that a quota is divided by while each decides locally.
  std::int64_t replicas() const { return replicas(terms_); }
  std::int64_t replicas(const Terms& terms) const {
    return terms.replicas.value_or(health_.instances().replicas);
  }

 private:
  /// An instance that was listed in the last reply.
  struct Seen {
    Instant first_ends;
    bool is_running = false;
  };

  void note(const redis::OtherInstances& others);
  std::vector<LogLine> compare(const redis::OtherInstances& others);

  admin::StoreHealth& health_;
  const std::string id_;
  Terms terms_;
  std::optional<Instant> announced_at_;
  std::map<std::string, Seen> seen_;  ///< by ID
  std::string difference_;            ///< reported
  ReplicaCount replicas_;
  bool has_more_than_replicas_ = false;
};

}  // namespace weir::app
