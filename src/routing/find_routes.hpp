// From a request to the routes that it is for: normal form, other readings of its path, and the
// original request that another proxy describes.
//
// Together with limiter::RequestEvidence this is everything that a decision needs from a request,
// without a connection, a loop or a log. What the proxy does, and what explains a request:
//
//   routing::RoutedRequest routed;
//   if (const auto refusal = routing::find_routes(table, request, peer, routed)) ...  // answered
//   if (routed.candidates.empty()) ...                                                // 404
//   limiter::RequestEvidence evidence;
//   evidence.gather(routed, std::span(settings.routes), {...});
//   limiter.decide(evidence.routes(), now);
//
// Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "http/refusal.hpp"
#include "http/request_target.hpp"
#include "http/request_view.hpp"
#include "routing/route_table.hpp"

namespace weir::routing {

/// Limits on what a peer describes in the fields of original_request.hpp.
struct PeerRules {
  bool is_trusted = false;  ///< else its request is about itself
  http::RawBytes raw = http::RawBytes::refuse;
  std::size_t max_target = 8 * 1024;
};

/// A request and its routes. Views the request that it was made from. An object that is used again
/// keeps its room, so that finding routes allocates nothing in the steady state.
struct RoutedRequest {
  RoutedRequest() = default;
  RoutedRequest(const RoutedRequest&) = delete;  // the views are into the object itself
  RoutedRequest& operator=(const RoutedRequest&) = delete;

  Question asked;
  Question original;               ///< the request that it asks a decision about
  bool has_read_original = false;  ///< a route that decides was reached; else `original` is stale
  std::string original_target;     ///< where parts of it lie
  std::vector<Candidate> candidates;  ///< the one that takes the request first

  /// The request that a route sees.
  const Question& seen_by(bool decides) const { return decides ? original : asked; }
};

/// Fills `out`; no candidates: no route matches. `request` is the one that the peer sent, with its
/// target set.
///
/// Refused with 400: what PathReadings::read(), RouteTable::find() and read_original_request()
/// refuse, and lower_case_method for the original method. With 414: an original target that is too
/// long.
std::optional<http::Refusal> find_routes(const RouteTable& table, const http::RequestView& request,
                                         const PeerRules& peer, RoutedRequest& out);

}  // namespace weir::routing
