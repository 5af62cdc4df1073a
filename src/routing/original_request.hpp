// The original request: the one that another proxy requests a decision about and describes in
// header fields. nginx's auth_request is usually configured to send X-Original-Method and
// X-Original-URI; forward_auth of Traefik and Caddy sends X-Forwarded-Method, X-Forwarded-Uri and
// X-Forwarded-Host.
//
// Pure. Call it only for a peer in client_address.trusted_proxies.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/refusal.hpp"
#include "http/request_target.hpp"
#include "http/request_view.hpp"

namespace weir::routing {

/// Sets `original` to `asked` with the method, target and host that the fields describe. Without a
/// field for the target the original request is `asked` itself, as with Envoy's ext_authz.
///
/// Refuses with 400: what http::set_target() refuses, a method that is not a token, and two
/// different values for one part, because a client could have added the one that its proxy did not
/// overwrite.
///
/// `storage` and `raw` as for http::set_target().
std::optional<http::Refusal> read_original_request(const http::RequestView& asked,
                                                   http::RequestView& original,
                                                   std::string& storage,
                                                   http::RawBytes raw = http::RawBytes::refuse);

/// The names of the fields that describe the original request, as received and in their order.
/// Empty without a field for the target: the others have no effect then.
std::vector<std::string_view> original_request_fields(const http::RequestView& asked);

}  // namespace weir::routing
