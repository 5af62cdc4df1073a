// The parts of a request that identities read, for each candidate route.
//
// A reused object keeps its capacity: gathering allocates nothing in the steady state. Pure;
// belongs to one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "identity/client_address.hpp"
#include "identity/identity.hpp"
#include "limiter/policy.hpp"
#include "routing/find_routes.hpp"
#include "routing/matcher.hpp"
#include "routing/path_readings.hpp"

namespace weir::limiter {

/// The limits of a route, and the evidence for identities if the request is for that route.
struct RouteEvidence {
  std::span<const Limit> limits;
  identity::Evidence evidence;
  /// The numbers that the body of the request states for the reserve of each limit; empty: none.
  std::span<const std::optional<std::int64_t>> stated{};
};

class RequestEvidence {
 public:
  /// The client, the same for all routes; it must outlive the evidence.
  struct Client {
    const IpAddress& address;  ///< identity::client_address() of the request
    const identity::ClientAddressOptions& settings;
    const routing::PathVariants& path_variants;
    bool peer_is_trusted = false;
  };

  /// Gathers the evidence for the candidates of `routed`, in their order, or nothing if none of
  /// them has limits. `routes` are the routes of the table: routing::Route with a member `limits`.
  /// The evidence has views into `routed`, `routes` and `client`.
  template <class Route>
  void gather(const routing::RoutedRequest& routed, std::span<const Route> routes,
              const Client& client);

  /// One for each candidate; empty if the request is not limited.
  std::span<const RouteEvidence> routes() const { return routes_; }

  /// Adds what the body of the request states for the limits of a route; it must outlive this.
  void add_stated(std::size_t route, std::span<const std::optional<std::int64_t>> stated) {
    routes_[route].stated = stated;
  }

 private:
  void add(const routing::RoutedRequest& routed, const routing::Candidate& candidate,
           const routing::Route& route, std::span<const Limit> limits, const Client& client);

  std::vector<RouteEvidence> routes_;
  std::vector<identity::PathParameter> path_parameters_;  ///< of all of them
};

template <class Route>
void RequestEvidence::gather(const routing::RoutedRequest& routed, std::span<const Route> routes,
                             const Client& client) {
  routes_.clear();
  path_parameters_.clear();
  const auto& candidates = routed.candidates;
  const bool is_limited =
      std::any_of(candidates.begin(), candidates.end(),
                  [&](const routing::Candidate& one) { return !routes[one.route].limits.empty(); });
  if (!is_limited) return;
  path_parameters_.reserve(candidates.size() * routing::path_parameter_limit);  // none may move
  for (const routing::Candidate& candidate : candidates) {
    const Route& route = routes[candidate.route];
    add(routed, candidate, route, route.limits, client);
  }
}

inline void RequestEvidence::add(const routing::RoutedRequest& routed,
                                 const routing::Candidate& candidate, const routing::Route& route,
                                 std::span<const Limit> limits, const Client& client) {
  const std::size_t first = path_parameters_.size();
  if (route.match.path) {
    const auto& names = route.match.path->parameters();
    for (std::size_t i = 0; i < names.size(); ++i)
      path_parameters_.push_back({names[i], candidate.captures[i]});
  }
  routes_.push_back(
      {.limits = limits,
       .evidence = {.request = routed.seen_by(route.decide).request,
                    .path = candidate.path,
                    .client = client.address,
                    .path_parameters = std::span(path_parameters_).subspan(first),
                    .client_options = client.settings,
                    .path_ignores_case = client.path_variants.letter_case,
                    .path_ignores_trailing_slash = client.path_variants.trailing_slash,
                    .peer_is_trusted = client.peer_is_trusted}});
}

}  // namespace weir::limiter
