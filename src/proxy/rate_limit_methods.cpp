#include "proxy/rate_limit_methods.hpp"

#include "identity/direct_request.hpp"
#include "proxy/check_call.hpp"

namespace weir::proxy {

bool is_for_service(options::Serves serves, const identity::ClientAddressOptions& addresses,
                    const http::ReceivedRequest& request) {
  if (serves != options::Serves::both) return serves == options::Serves::rate_limit_service;
  if (!request.peer_is_trusted) return false;
  const std::string_view path = request.view.path;
  const bool is_of_service =
      path == should_rate_limit || path == kuadrant_check || path == kuadrant_report ||
      path == kuadrant_reserve || path == kuadrant_commit || path == check_path ||
      path == health_check || path == health_watch || path == json_path || path == health_path;
  return is_of_service && identity::is_direct(addresses, request.peer, request.view);
}

}  // namespace weir::proxy
