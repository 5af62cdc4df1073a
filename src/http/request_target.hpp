// The target of a request in its four forms (RFC 9112 section 3.2), reduced to what routes and
// upstreams understand.
//
// Pure. Nothing is decoded or normalised: path and query are forwarded byte for byte (RFC 9110
// section 7.7), except that an empty path becomes "/".
#pragma once

#include <optional>
#include <string>
#include <string_view>

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

/// Checks `received`, the target in the request line, and sets request.target, path, query, host
/// and authority. Reads request.method, version_minor and fields.
///
/// Refuses CONNECT and TRACE with 405. Refuses with 400: space, controls or a fragment in the
/// target, raw bytes unless they may pass, "*" for a method other than OPTIONS, a scheme other than
/// http and https, userinfo, and an authority that differs from Host.
///
/// `storage` holds the target in the one case where it is not a part of `received`:
/// "http://host?query", which becomes "/?query". It must live as long as the view.
std::optional<Refusal> set_target(RequestView& request, std::string_view received,
                                  std::string& storage, RawBytes raw = RawBytes::refuse);

}  // namespace weir::http
