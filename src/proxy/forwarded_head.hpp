// The heads Weir sends on: a request towards the upstream, an answer towards the client. Pure text
// building into a flat buffer.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/appender.hpp"
#include "http/field_guard.hpp"
#include "http/framing.hpp"
#include "http/hop_by_hop.hpp"
#include "identity/ip_address.hpp"
#include "proxy/exchange.hpp"
#include "proxy/head_parser.hpp"

namespace weir::proxy {

/// The name under which this process signs Via (RFC 9110 section 7.6.3). It is like no other's, so
/// that a request that carries it has been here before.
std::string_view via_name();

/// The methods that are passed on as a matter of course, as a field line.
inline constexpr std::string_view allow_line =
    "Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n";

struct ForwardedHop {
  const identity::IpAddress& peer;
  bool peer_is_trusted = false;
  const http::FieldGuard& guard;
  std::string_view trailer{};  ///< the value of Trailer; empty: no such field
};

/// Request line and end-to-end fields in their order, then Via and X-Forwarded-For, -Proto and
/// -Host. The fields that hop.guard removes are left out; the X-Forwarded-For of a trusted peer is
/// kept and its address appended. Max-Forwards of OPTIONS is one less. "TE: trailers" is said anew
/// if the client said it to us.
void append_request_head(std::string& text, const Exchange& exchange, const ForwardedHop& hop);

struct ResponseHead {
  const StatusLine& line;
  std::span<const http::FieldView> fields;
  const http::ConnectionOptions& connection;
  http::Framing body;          ///< as it comes from the upstream
  std::string_view trailer{};  ///< the value of Trailer; empty: no such field
};

/// Status line, end-to-end fields, the exchange's RateLimit fields, framing and Connection as the
/// client's version needs them. True if the body goes out chunked.
bool append_response_head(std::string& text, const ResponseHead& head, const Exchange& exchange,
                          std::string_view date);

/// A 1xx answer (RFC 9110 section 15.2).
void append_interim_head(std::string& text, const ResponseHead& head);

/// A 101 that goes on in the protocol its Upgrade field names.
void append_switching_head(std::string& text, const ResponseHead& head, const Exchange& exchange);

/// The lines that end a head: Connection where the version's default does not say it, and the empty
/// line.
void append_connection(Appender& out, const Exchange& exchange);

}  // namespace weir::proxy
