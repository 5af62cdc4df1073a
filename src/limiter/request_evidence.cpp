#include "limiter/request_evidence.hpp"

namespace weir::limiter {

void RequestEvidence::add(const routing::RoutedRequest& routed, const routing::Candidate& candidate,
                          const routing::Route& route, std::span<const Limit> limits,
                          const Client& client) {
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
                    .client_settings = client.settings,
                    .path_ignores_case = client.path_variants.letter_case,
                    .path_ignores_trailing_slash = client.path_variants.trailing_slash,
                    .peer_is_trusted = client.peer_is_trusted}});
}

}  // namespace weir::limiter
