#include "limiter/key_traffic.hpp"

namespace weir::limiter {

void count_keys(const Verdict& verdict, const DecidedRequest& request, const Limiter& limiter,
                const NameIds& ids, TopKeys& keys) {
  const std::uint32_t route_id = ids.route(request.route);
  for (const LimitVerdict& limit : verdict.limits) {
    const RouteKey key{.identity = limit.identity,
                       .policy_id = limiter.record_of(*limit.policy).id,
                       .route_id = route_id};
    const KeySample sample{.client = request.client,
                           .identity_id = ids.identity(limit.identity_index)};
    keys.count(key, {.is_denied = violated(limit)}, sample, request.now);
  }
}

}  // namespace weir::limiter
