// Finds the routes of a request: reads its path in the normal form and in other readings, and the
// original request that another proxy describes.
//
// Without a connection, a loop or a log. decision::RequestRoutes gathers from the result what the
// limits of the routes read.
//
// Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/ip_address.hpp"
#include "http/refusal.hpp"
#include "http/request_target.hpp"
#include "http/request_view.hpp"
#include "routing/route_table.hpp"

namespace weir::routing {

/// The sender of a request, and the rules for the fields of original_request.hpp from it.
struct PeerRules {
  bool is_trusted = false;  ///< else the fields are ignored
  http::RawBytes raw = http::RawBytes::refuse;
  std::size_t max_target = 8 * 1024;
  IpAddress client{};  ///< identity::client_address() of the request, whole
};

/// A request and its routes. Has views into the request that it was made from. A reused object
/// keeps its capacity, so that finding routes allocates nothing in the steady state.
struct RoutedRequest {
  RoutedRequest() = default;
  RoutedRequest(const RoutedRequest&) = delete;  // has views into itself
  RoutedRequest& operator=(const RoutedRequest&) = delete;

  Question asked;
  Question original;                  ///< the request that `decide` routes see
  bool has_read_original = false;     ///< a `decide` route was reached; else `original` is stale
  std::string original_target;        ///< storage for parts of it
  std::vector<Candidate> candidates;  ///< the first one takes the request

  /// The request that a route sees.
  const Question& seen_by(bool decides) const { return decides ? original : asked; }
};

/// Fills `out`; no candidates: no route matches. `request` is the one that the peer sent, with the
/// target set.
///
/// Refuses with 400 what PathReadings::read(), RouteTable::find() and read_original_request()
/// refuse, and with lower_case_method such an original method. Refuses an original target that is
/// too long with 414.
std::optional<http::Refusal> find_routes(const RouteTable& table, const http::RequestView& request,
                                         const PeerRules& peer, RoutedRequest& out);

}  // namespace weir::routing
