// The decision about one request, from its inspected head to its verdict: routes, the inputs of
// their limits, claims, the store, the verdict.
//
// Owns everything that the request needs on the way, so any number of requests can wait for a store
// at the same time. It knows no connection, loop or clock. The exchanges of a proxy use it, and
// `weir explain`. Reused for the next request, so that nothing is allocated in the steady state; it
// must not move while the store decides. Belongs to one worker.
#pragma once

#include <optional>

#include "base/time.hpp"
#include "decision/request_routes.hpp"
#include "http/received_request.hpp"
#include "http/refusal.hpp"
#include "limiter/evaluation.hpp"
#include "limiter/limiter.hpp"
#include "store/store.hpp"

namespace weir::decision {

class Decision {
 public:
  /// Prepares for the next request.
  void clear() { routes_.clear(); }

  /// Finds the routes that the request may be for. Returns the refusal, if the request is refused.
  /// Views `rules` and `request` from then on.
  std::optional<http::Refusal> find_routes(const RequestRules& rules,
                                           const http::ReceivedRequest& request) {
    return routes_.find(rules, request);
  }
  const RequestRoutes& routes() const { return routes_; }
  RequestRoutes& routes() { return routes_; }
  /// The route that the request belongs to; nullptr: none yet.
  const options::Route* route() const { return routes_.route(); }
  /// True if one of the routes has limits.
  bool is_limited() const { return !routes_.evidence().empty(); }

  /// Decides a limited request at `now`. Returns false if the store passes its result to
  /// `completion` later: then call conclude() with it. `trace`: as for limiter::ClaimMaker::make().
  bool decide(limiter::Limiter& limiter, store::Completion& completion, Instant now,
              limiter::Trace* trace = nullptr) {
    return limiter.decide(evaluation_, routes_.evidence(), completion, now, trace);
  }
  void conclude(limiter::Limiter& limiter, const store::Result& result) {
    limiter.conclude(evaluation_, result);
  }

  /// Valid once the request is decided. A denied one that waits() may still get another.
  const limiter::Verdict& verdict() const { return evaluation_.verdict; }
  /// True if the denied request waits for a slot: SlotWaitMachine.
  bool waits() const { return evaluation_.waits_for.has_value(); }
  limiter::Evaluation& evaluation() { return evaluation_; }
  const limiter::Evaluation& evaluation() const { return evaluation_; }

  /// Assigns the request to the route that refuses it, if that is for lack of an identity. Returns
  /// whether it does.
  bool take_refusing_route(const options::Proxy& options) {
    if (!limiter::is_for_lack_of_identity(verdict().outcome)) return false;
    routes_.choose(options, *verdict().route);
    return true;
  }

 private:
  RequestRoutes routes_;
  limiter::Evaluation evaluation_;
};

}  // namespace weir::decision
