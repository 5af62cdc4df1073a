// A question that no request asks: whether a decision can be had. It charges a key of nobody's,
// which is gone a minute later, so that a server that reads and does not write fails it as well.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "redis/script.hpp"
#include "redis/store.hpp"

namespace weir::redis {

class Probe {
 public:
  /// `sets`: those whose scripts are loaded. `policy_id`: of a name that no policy has.
  Probe(const std::vector<AlgorithmSet>& sets, std::uint32_t policy_id);
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  /// nullptr: no script is loaded, as nobody ever asks.
  Question* question() { return policy_ ? &question_ : nullptr; }
  const Question* question() const { return policy_ ? &question_ : nullptr; }

 private:
  std::optional<rules::Policy> policy_;
  store::Claim claim_;
  rules::Decision decision_;
  Question question_;
};

}  // namespace weir::redis
