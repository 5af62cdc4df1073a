#include "proxy/request_hold.hpp"

#include <string>

#include "limiter/waiting.hpp"

namespace weir::proxy {
namespace {

const std::string too_many_holds =
    "too many holds wait for the reports of other proxies; further ones end with the decision and "
    "are charged as they were held";

}  // namespace

std::optional<Hash128> RequestHold::keep(Generation& generation, Duration lease,
                                         DecisionRecord& to) {
  if (!holds_units() || evaluation_.held.limits.empty()) return std::nullopt;
  to.settled(evaluation_.held);
  const auto id = context_.holds.keep(evaluation_.held, generation, lease);
  if (id) {
    grant_.release();
  } else {
    context_.warn(too_many_holds);
    limiter::RequestEnd how{.lease_has_ended = true};
    settle_units(generation, how, to, context_.clock.now());
  }
  return id;
}

bool RequestHold::settle_other(const decision::HoldReport& report,
                               std::span<const http::FieldView> fields,
                               std::span<const limiter::Policy> policies, DecisionRecord& to) {
  return context_.holds.settle(report.id, [&](limiter::HeldUnits& held) {
    if (meter_.prepare(held)) {
      meter_.begin(fields);
      meter_.end({});
      meter_.settle(held);
      meter_.clear();
    }
    limiter::end(held, report.end);
    to.reported(held, policies);
  });
}

void RequestHold::settle_units(Generation& generation, limiter::RequestEnd& how, DecisionRecord& to,
                               Instant now) {
  limiter::HeldUnits& held = evaluation_.held;
  limiter::Limiter& limiter = *generation.limiter;
  if (meter_.has_begun()) {
    meter_.add_outcome(how);
    meter_.settle(held);
  }
  limiter::end(held, how);
  limiter.count_settled(held);
  to.settled(held);
  grant_.settle(now);
  if (auto* const queue = limiter.queue()) limiter::report_released(*queue, held);
}

}  // namespace weir::proxy
