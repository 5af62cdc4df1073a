// The request that another proxy asks a decision about, as it describes it in fields of its own
// question: nginx's auth_request as it is usually configured (X-Original-Method, X-Original-URI),
// Traefik's and Caddy's forward_auth (X-Forwarded-Method, X-Forwarded-Uri, X-Forwarded-Host).
//
// Pure. Only for a peer that may speak for others.
#pragma once

#include <optional>
#include <string>

#include "http/refusal.hpp"
#include "http/request_target.hpp"
#include "http/request_view.hpp"

namespace weir::routing {

/// `original` becomes `asked` with the method, target and host that the fields name. Without a
/// field for the target the question is about itself, as Envoy's ext_authz asks.
///
/// Refused with 400: what http::set_target() refuses, a method that is no token, and two values for
/// one of them: a client could have added the one that its proxy did not overwrite.
///
/// `storage` and `raw` as for http::set_target().
std::optional<http::Refusal> read_original_request(const http::RequestView& asked,
                                                   http::RequestView& original,
                                                   std::string& storage,
                                                   http::RawBytes raw = http::RawBytes::refuse);

}  // namespace weir::routing
