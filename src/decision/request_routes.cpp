#include "decision/request_routes.hpp"

#include "decision/head_inspection.hpp"
#include "decision/hold_report.hpp"
#include "decision/refusals.hpp"

namespace weir::decision {

std::optional<http::Refusal> RequestRoutes::find(const RequestRules& rules,
                                                 const http::ReceivedRequest& request) {
  const options::Proxy& options = rules.options;
  const routing::PeerRules peer{.is_trusted = request.peer_is_trusted,
                                .raw = raw_bytes(options.downstream),
                                .max_target = options.downstream.max_target,
                                .client = request.client};
  if (auto refusal = routing::find_routes(rules.route_table, request.view, peer, routed_))
    return refusal;
  if (routed_.candidates.empty()) return no_route;
  choose(options, 0);
  needs_ = options::needs_nothing;
  for (const routing::Candidate& candidate : routed_.candidates)
    needs_ |= options.routes[candidate.route].needs;
  if ((needs_ & options::needs_settlements) != 0 && !is_hold_report(request.view))
    needs_ &= static_cast<std::uint8_t>(~options::needs_settlements);
  evidence_.gather(routed_, std::span(options.routes),
                   {.address = request.client,
                    .settings = options.client_address,
                    .path_variants = options.path_variants,
                    .peer_is_trusted = request.peer_is_trusted});
  return std::nullopt;
}

}  // namespace weir::decision
