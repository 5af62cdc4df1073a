// Which fields end at this hop, and whether the connection does (RFC 9110 section 7.6.1, RFC 9112
// section 9.3).
//
// Views into the message; no allocation; pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "http/request_view.hpp"

namespace weir::http {

/// What all Connection lines of a message say together.
struct ConnectionOptions {
  bool close = false;
  bool keep_alive = false;
  bool upgrade = false;
  bool too_many = false;  ///< more names than fit below: refuse the message, its hop-by-hop fields
                          ///< are not known
  std::size_t name_count = 0;
  std::array<std::string_view, 16> names;  ///< of fields to remove besides the ones that always are

  bool name(std::string_view field_name) const;
};

/// Options that name a field meant for everyone are ignored, so that a sender can strip neither
/// identity nor framing
/// ("MUST NOT send a connection option corresponding to a field that is intended for all
/// recipients"): Host, Content-Length, Authorization, Cookie, Forwarded, X-Forwarded-*, and the
/// names in `kept`: the fields that identities are read from.
ConnectionOptions connection_options(std::span<const FieldView> fields,
                                     std::span<const std::string> kept = {});

/// True for fields that are not passed on: Connection, Proxy-Connection, Keep-Alive, TE,
/// Transfer-Encoding, Upgrade, and what Connection names. Trailer is none of them (RFC 9110 section
/// 6.6.2).
bool is_hop_by_hop(const FieldView& field, const ConnectionOptions& options);

/// True for fields that may not arrive in a trailer section: framing, routing, request modifiers,
/// authentication and content format (RFC 9110 section 6.5.1), RateLimit fields, those that only a
/// trusted proxy may send (http/trusted_fields.hpp), and names that a service may read as one of
/// these. They are dropped, never merged into the head.
bool is_forbidden_in_trailers(const FieldView& field);

/// True if the sender ends the connection after this message.
bool wants_close(std::uint8_t version_minor, const ConnectionOptions& options);

}  // namespace weir::http
