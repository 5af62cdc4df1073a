// Host and port of a request: the Host field and the authority of an absolute-form target (RFC 9112
// section 3.2).
//
// Pure; no allocation; views into the message.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "http/refusal.hpp"
#include "http/request_view.hpp"

namespace weir::http {

struct Authority {
  std::string_view
      host;  ///< a name or an IPv4 address; an IPv6 address with its brackets; never empty
  std::string_view port;  ///< up to 65535; empty if there is none
};

/// Parses uri-host [ ":" port ] of RFC 3986 section 3.2 without userinfo; returns nothing for other
/// text. A name has letters, digits, "-", "_" and dots only, fewer characters than section 3.2.2
/// allows. It may end in one dot; other empty labels (".", "a..b", ".a") are refused.
std::optional<Authority> parse_authority(std::string_view text);

/// Parses the Host field; without one, the host is empty. Refuses with 400: more than one line
/// (even the same twice), an empty one (allowed by the grammar, but no route can match it), and one
/// that is not an authority.
Result<Authority, Refusal> host_field(std::span<const FieldView> fields);

/// Returns the Host of a request to `host` (a name or an address, without brackets): brackets
/// around IPv6, no port if it is that of the scheme.
std::string authority_of(std::string_view host, std::uint16_t port, bool is_secure);

}  // namespace weir::http
