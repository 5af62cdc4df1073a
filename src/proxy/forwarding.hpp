// The forward phase of an exchange: one attempt, and retries where they are safe.
//
// Used from its worker's loop only.
#pragma once

#include "proxy/failure.hpp"
#include "proxy/forward_phase.hpp"
#include "proxy/retry_rule.hpp"

namespace weir::proxy {

class Forwarding {
 public:
  explicit Forwarding(const ForwardPhase& phase) : phase_(phase) {}

  /// Failure::none: the response has been relayed, or a tunnel has ended.
  loop::Task<Failure> run();

 private:
  void count(Failure failure);

  ForwardPhase phase_;
};

}  // namespace weir::proxy
