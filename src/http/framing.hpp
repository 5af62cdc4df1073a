// Decides where a message body ends (RFC 9112 section 6.3), strictly: a head that two parsers could
// read in two ways is refused.
//
// Reads the head only; pure; no allocation.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.hpp"
#include "http/refusal.hpp"
#include "http/request_view.hpp"

namespace weir::http {

struct Framing {
  enum class Kind : std::uint8_t {
    none,
    length,       ///< Content-Length: exactly `length` bytes, also 0
    chunked,      ///< the chunked coding and no other
    until_close,  ///< responses only
  };
  Kind kind = Kind::none;
  std::uint64_t length = 0;

  friend bool operator==(const Framing&, const Framing&) = default;
};

/// Refuses with 400: Transfer-Encoding together with Content-Length or in HTTP/1.0, a coding list
/// that does not end in one "chunked", and more than one Content-Length or one that is not a plain
/// number. Refuses with 501: other codings before "chunked".
Result<Framing, Refusal> request_framing(const RequestView& request);

/// Returns the framing of an upstream's final or interim response; `request_method` is the method
/// of the request. Refuses all that is ambiguous with 502. A response without a body (1xx, 204,
/// 304, to HEAD) has none whatever its fields declare.
Result<Framing, Refusal> response_framing(std::string_view request_method, int status,
                                          std::uint8_t version_minor,
                                          std::span<const FieldView> fields);

}  // namespace weir::http
