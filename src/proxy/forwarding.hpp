// The forward phase of an exchange: one attempt, and retries where they are safe.
//
// Used from its worker's loop only.
#pragma once

#include "proxy/failure.hpp"
#include "proxy/forwarding_scope.hpp"
#include "proxy/retry_rule.hpp"

namespace weir::proxy {

class Forwarding {
 public:
  explicit Forwarding(const ForwardingScope& scope) : scope_(scope) {}

  /// Failure::none: the response has been relayed, or a tunnel has ended.
  loop::Task<Failure> run();

 private:
  void count(Failure failure);

  ForwardingScope scope_;
};

}  // namespace weir::proxy
