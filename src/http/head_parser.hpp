// Message heads as views, parsed strictly (RFC 9112): no message object, no copies
// (docs/adr/0017-heads-are-parsed-here.md).
//
// The caller waits until a whole head has arrived (find_head_end) and parses it in one pass, so all
// views point into its buffer. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "http/refusal.hpp"
#include "http/request_view.hpp"

namespace weir::http {

/// The answers to heads that are not parsed.
inline constexpr Refusal head_malformed{400, "the request head is not valid HTTP/1.1"};
inline constexpr Refusal head_too_large{431, "the request head is too large"};
inline constexpr Refusal method_too_long{501, "the request method is too long"};

/// A head with more fields than this is refused as too large.
inline constexpr std::size_t most_fields = 256;

struct HeadEnd {
  enum class State : unsigned char { incomplete, complete, malformed };
  State state = State::incomplete;
  std::size_t size = 0;  ///< complete: bytes of the head, including its empty line
};

/// Looks for the empty line. `scanned` stores how far earlier calls on the same head got (0 at
/// first). A line that ends in LF alone is malformed at once, because waiting for the rest would
/// end in a timeout (RFC 9112 section 2.2).
HeadEnd find_head_end(std::string_view data, std::size_t& scanned);

/// The start line of a head.
struct RequestLine {
  std::string_view method;
  std::string_view target;
  int version = 11;
};
struct StatusLine {
  int status = 0;
  std::string_view reason;
  int version = 11;
};

/// Returns why parse_request_head rejected this head: 431 with too many fields, 505 for an
/// unsupported version of HTTP (RFC 9112 section 2.3), else 400.
Refusal why_refused(std::string_view head, std::span<const FieldView> fields);

/// The fault of a head that is longer than allowed.
enum class HeadFault : std::uint8_t { malformed, too_large, long_target, long_method };

/// Returns why a head that does not end within `begin`, its first bytes, is refused, depending on
/// the part that is too long. RFC 9112 section 3: a method longer than any that is implemented is
/// 501, a target 414; a request line that continues after them is malformed.
HeadFault fault_of_large_head(std::string_view begin);

/// Moves white space before the colon of a field to after it, in place; true if there was some. A
/// proxy removes it from responses (RFC 9112 section 5.1).
bool move_space_behind_colons(std::span<char> head);

/// Parses one whole head; empty if it is not valid. The views point into `head`.
std::optional<RequestLine> parse_request_head(std::string_view head,
                                              std::vector<FieldView>& fields);
std::optional<StatusLine> parse_response_head(std::string_view head,
                                              std::vector<FieldView>& fields);

}  // namespace weir::http
