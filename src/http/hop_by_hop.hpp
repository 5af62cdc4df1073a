// Decides which fields are for this hop only, and whether the connection ends (RFC 9110 section
// 7.6.1, RFC 9112 section 9.3).
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

/// The options in all Connection lines of a message.
struct ConnectionOptions {
  bool close = false;
  bool keep_alive = false;
  bool upgrade = false;
  bool too_many = false;  ///< more names than `names` has room for: refuse the message, because not
                          ///< all of its hop-by-hop fields are known
  std::size_t name_count = 0;
  /// Fields to remove in addition to those that are always removed.
  std::array<std::string_view, 16> names;

  bool name(std::string_view field_name) const;
  /// Prepares for another message; the names stay in memory, beyond name_count.
  void clear() {
    close = keep_alive = upgrade = too_many = false;
    name_count = 0;
  }
};

/// Ignores options that name a field for all recipients, so that a sender can remove neither
/// identity nor framing: Host, Content-Length, Authorization, Cookie, Forwarded, X-Forwarded-*, and
/// the names in `kept`, the fields that identities read. RFC 9110 section 7.6.1 forbids such
/// options.
ConnectionOptions connection_options(std::span<const FieldView> fields,
                                     std::span<const std::string> kept = {});
/// The same into `options`, whose content is replaced.
void read_connection_options(std::span<const FieldView> fields, std::span<const std::string> kept,
                             ConnectionOptions& options);

/// True for fields that are not passed on: Connection, Proxy-Connection, Keep-Alive, TE,
/// Transfer-Encoding, Upgrade, and what Connection names. Trailer is forwarded (RFC 9110 section
/// 6.6.2).
bool is_hop_by_hop(const FieldView& field, const ConnectionOptions& options);

/// True for fields that are not accepted in a trailer section; they are dropped and never merged
/// into the head. They are framing, routing, request modifiers, authentication and content format
/// (RFC 9110 section 6.5.1), RateLimit fields, those that only a trusted proxy may send
/// (http/trusted_fields.hpp), and names that a service may read as one of these.
bool is_forbidden_in_trailers(const FieldView& field);

/// True if the sender ends the connection after this message.
bool wants_close(std::uint8_t version_minor, const ConnectionOptions& options);

}  // namespace weir::http
