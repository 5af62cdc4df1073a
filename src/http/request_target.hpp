// The target of a request, reduced to what routes and upstreams understand. HTTP/1 has four forms
// of it (RFC 9112 section 3.2); HTTP/2 sends it in parts (RFC 9113 section 8.3.1).
//
// Pure. Nothing is decoded or normalised: path and query are forwarded byte for byte (RFC 9110
// section 7.7), except that an empty path becomes "/".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/authority.hpp"
#include "http/refusal.hpp"
#include "http/request_view.hpp"

namespace weir::http {

inline constexpr Refusal target_too_long{414, "the request target is too long"};

/// Bytes from 0x80 and "\\" in a target. RFC 3986 allows neither; services decode the former in
/// different character sets, and some read the latter as "/".
enum class RawBytes : unsigned char {
  refuse,  ///< 400
  pass,
};

/// Refuses CONNECT and TRACE with 405. Refuses with 400: an empty target, space, controls or a
/// fragment in it, and raw bytes unless they may pass. Does not depend on the version of HTTP.
std::optional<Refusal> check_target(std::string_view method, std::string_view target, RawBytes raw);

/// The parts of the URI of a request. HTTP/1 sends them in one text, the absolute-form.
struct TargetUri {
  std::string_view scheme;  ///< in any case
  std::string_view authority;
  std::string_view path;  ///< "/path?query", "?query", "*", or empty
};

/// Sets request.target, path, query, host and authority from a URI. Its path, or the text of which
/// it is a part, has passed check_target(). Reads request.method. Does not depend on the version of
/// HTTP.
///
/// Refuses with 400: a scheme other than http and https, a path in none of these forms, userinfo,
/// an authority that differs from `host`, the Host field, if there is one, and "*" for a method
/// other than OPTIONS.
///
/// `storage` holds the target in the one case where it is not a part of the path as received:
/// "http://host?query", which becomes "/?query". It must live as long as the view.
std::optional<Refusal> set_uri(RequestView& request, const TargetUri& uri, const Authority& host,
                               std::string& storage);

/// Checks `received`, the target in the request line of HTTP/1, and sets request.target, path,
/// query, host and authority. Reads request.method, version_minor and fields.
///
/// Refuses what check_target(), host_field() and set_uri() refuse, and with 400: a target in none
/// of the forms, "*" for a method other than OPTIONS, and HTTP/1.1 without Host.
///
/// `storage` as for set_uri().
std::optional<Refusal> set_target(RequestView& request, std::string_view received,
                                  std::string& storage, RawBytes raw = RawBytes::refuse);

}  // namespace weir::http
