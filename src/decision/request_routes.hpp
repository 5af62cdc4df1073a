// The routes of one request, and the inputs of their limits: from an inspected head to the input of
// the limiter. Needs no connection and no loop. Owned by the exchange and reused; not thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "decision/request_rules.hpp"
#include "http/received_request.hpp"
#include "http/refusal.hpp"
#include "limiter/request_evidence.hpp"
#include "options/proxy.hpp"
#include "routing/find_routes.hpp"

namespace weir::decision {

class RequestRoutes {
 public:
  /// Returns the refusal, if the request is refused. Views the options of `rules` and `request`
  /// from then on.
  std::optional<http::Refusal> find(const RequestRules& rules,
                                    const http::ReceivedRequest& request);

  /// Assigns the request to this candidate.
  void choose(const options::Proxy& options, std::size_t candidate) {
    route_ = &options.routes[routed_.candidates[candidate].route];
  }
  void clear() { route_ = nullptr; }

  /// The route that the request belongs to; nullptr: none yet.
  const options::Route* route() const { return route_; }
  const routing::RoutedRequest& routed() const { return routed_; }
  /// One entry for each route that the request may belong to; empty if it is not limited.
  std::span<const limiter::RouteEvidence> evidence() const { return evidence_.routes(); }
  limiter::RequestEvidence& gathered() { return evidence_; }
  /// The RouteNeeds of all routes that the request may belong to; needs_settlements for reports
  /// only.
  std::uint8_t needs() const { return needs_; }

 private:
  const options::Route* route_ = nullptr;
  routing::RoutedRequest routed_;
  limiter::RequestEvidence evidence_;
  std::uint8_t needs_ = options::needs_nothing;
};

}  // namespace weir::decision
