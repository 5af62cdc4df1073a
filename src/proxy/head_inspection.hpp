// From the bytes of a request head to a request that routes and identities can be asked about.
//
// Needs no session and no loop. Not thread-safe: it writes into the exchange.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "http/refusal.hpp"
#include "http/request_target.hpp"
#include "identity/ip_address.hpp"
#include "proxy/exchange.hpp"
#include "proxy/request_rules.hpp"
#include "proxy/settings.hpp"

namespace weir::proxy {

/// Whether raw bytes may pass in a target: downstream.raw_target_bytes.
http::RawBytes raw_bytes(const Downstream& downstream);

/// True if downstream.max_body is set and `body_size` is beyond it.
bool is_too_large(const Downstream& downstream, std::uint64_t body_size);

/// Parses a whole head from `peer` into the exchange: request, fields, framing, connection options,
/// upgrade and client. All views point into `head`. Returns why the request is refused, if it is;
/// request.method is empty if the head could not be parsed. Until it returns nothing keep_alive may
/// be false: where the next request would begin is not known.
std::optional<http::Refusal> inspect_head(const RequestRules& rules, const Settings& config,
                                          const identity::IpAddress& peer, std::string_view head,
                                          Exchange& exchange);

}  // namespace weir::proxy
