#include "routing/find_routes.hpp"

#include "routing/original_request.hpp"

namespace weir::routing {
namespace {

/// Reads the original request: the one that a trusted proxy describes, else the request itself.
Result<const Question*, http::Refusal> read_original(const RouteTable& table, const PeerRules& peer,
                                                     RoutedRequest& out) {
  Question& original = out.original;
  original.request = out.asked.request;
  original.client = peer.client;
  if (peer.is_trusted) {
    if (const auto refusal = read_original_request(out.asked.request, original.request,
                                                   out.original_target, peer.raw))
      return *refusal;
    if (!table.accepts_method(original.request.method)) return lower_case_method;
    if (original.request.target.size() > peer.max_target) return http::target_too_long;
  }
  if (const auto refusal = original.paths.read(original.request.path, table.reading_options()))
    return *refusal;
  out.has_read_original = true;
  return &original;
}

}  // namespace

std::optional<http::Refusal> find_routes(const RouteTable& table, const http::RequestView& request,
                                         const PeerRules& peer, RoutedRequest& out) {
  out.asked.request = request;
  out.asked.client = peer.client;
  out.has_read_original = false;
  if (auto refusal = out.asked.paths.read(request.path, table.reading_options())) return refusal;
  return table.find(
      out.asked, [&] { return read_original(table, peer, out); }, out.candidates);
}

}  // namespace weir::routing
