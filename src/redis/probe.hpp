// An acquisition that no request needs: it finds out whether Redis decides. It charges a key of its
// own, which expires within a minute, so that a server that reads and does not write fails it too.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "redis/script.hpp"
#include "store/store.hpp"

namespace weir::redis {

class Probe {
 public:
  /// `sets`: those whose scripts are loaded. `policy_id`: of a name that no policy has.
  Probe(const std::vector<AlgorithmSet>& sets, std::uint32_t policy_id);
  /// Scripts are loaded now, and none were before.
  void use(const std::vector<AlgorithmSet>& sets);
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  /// False: no script is loaded, because there is never anything to decide.
  bool can_ask() const { return policy_.has_value(); }
  /// To be used until its result is there.
  store::Acquisition& acquisition(Instant now) {
    acquisition_.arrived_at = now;
    return acquisition_;
  }

 private:
  std::uint32_t policy_id_;
  std::optional<rules::Policy> policy_;
  store::Claim claim_;
  rules::Decision decision_;
  store::Acquisition acquisition_;
};

}  // namespace weir::redis
