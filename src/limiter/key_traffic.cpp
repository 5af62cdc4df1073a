#include "limiter/key_traffic.hpp"

namespace weir::limiter {

void count_keys(const Verdict& verdict, const DecidedRequest& request, const KeyTraffic& traffic) {
  const std::uint32_t route_id = traffic.ids.route(request.route);
  for (const LimitVerdict& limit : verdict.limits) {
    const PolicyRecord& policy = traffic.limiter.record_of(*limit.policy);
    const bool is_early = traffic.given.is_early(
        {.identity = limit.identity, .policy_id = policy.id}, request.arrived_at);
    if (is_early) policy.counters->early_retries.add();
    traffic.keys.count(
        {.identity = limit.identity, .policy_id = policy.id, .route_id = route_id},
        {.is_denied = violated(limit), .is_early_retry = is_early},
        {.client = request.client, .identity_id = traffic.ids.identity(limit.identity_index)},
        request.now);
  }
}

}  // namespace weir::limiter
