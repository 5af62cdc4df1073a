// Decides calls of the rate limit service with the limiter of an offline instance.
//
// A call is decided at once and ends with its decision. Used again for the next call. Pure: the
// time is an argument. Not thread-safe.
#pragma once

#include <string_view>

#include "base/time.hpp"
#include "decision/traffic_copy.hpp"
#include "limiter/limiter.hpp"
#include "limiter/options.hpp"
#include "limiter/verdict.hpp"
#include "options/proxy.hpp"
#include "options/rate_limit_service.hpp"
#include "rls/descriptor_rules.hpp"
#include "rls/rate_limit_call.hpp"
#include "store/store.hpp"

namespace weir::offline {

class ServiceCalls {
 public:
  /// The options and the limiter outlive it. The store of the limiter decides at once.
  ServiceCalls(const options::RateLimitService& service, const options::Proxy& proxy,
               const limiter::Options& limits, limiter::Limiter& limiter);
  ServiceCalls(const ServiceCalls&) = delete;
  ServiceCalls& operator=(const ServiceCalls&) = delete;

  /// Decides a call as RateLimitExchange::decide. nullptr: its message or its descriptors are not
  /// valid under this configuration. The verdict is valid until the next call.
  const limiter::Verdict* decide(decision::CopiedMethod method, std::string_view message,
                                 Instant now);

 private:
  /// The memory store decides at once.
  struct NoCompletion final : store::Completion {
    void complete(const store::Result&, Instant) noexcept override {}
  };

  const rls::DescriptorRules descriptors_;
  const identity::ValueOptions values_;
  const rls::CallRules rules_;  ///< refers to the members above
  limiter::Limiter& limiter_;
  NoCompletion nobody_;
  rls::RateLimitCall call_;
};

}  // namespace weir::offline
