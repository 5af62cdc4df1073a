// Distinguishes requests of a trusted proxy itself from those that it forwards for clients.
#pragma once

#include "base/ip_address.hpp"
#include "http/request_view.hpp"
#include "identity/client_address.hpp"

namespace weir::identity {

/// Whether a trusted proxy sends the request itself, and not for a client. A field that a proxy
/// adds to what it forwards means the latter: Forwarded, Via, X-Real-IP, X-Forwarded-* and that of
/// the options. One X-Forwarded-For with the address of a trusted proxy does not: Envoy adds its
/// own address to the calls of its filters.
bool is_direct(const ClientAddressOptions& options, const IpAddress& peer,
               const http::RequestView& request);

}  // namespace weir::identity
