// Message heads as views, read strictly (RFC 9112): no message object, no copies
// (docs/adr/0017-heads-are-parsed-here.md).
//
// The caller waits until a head has arrived whole (find_head_end) and parses it in one go, so all
// views point into its buffer. Not thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "http/refusal.hpp"
#include "http/request_view.hpp"
#include "proxy/failure.hpp"

namespace weir::proxy {

/// More fields than this are refused as a too large head.
inline constexpr std::size_t most_fields = 256;

struct HeadEnd {
  enum class State : unsigned char { incomplete, complete, malformed };
  State state = State::incomplete;
  std::size_t size = 0;  ///< complete: bytes of the head, its empty line included
};

/// Looks for the empty line; `scanned` remembers how far earlier calls on the same head came (0 at
/// first). A line that ends in LF alone is malformed at once: waiting for the rest would only time
/// out (RFC 9112 section 2.2).
HeadEnd find_head_end(std::string_view data, std::size_t& scanned);

/// What a head holds besides its fields, as the parser found it.
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

/// Why parse_request_head did not take this head: 431 with too many fields, 505 for a version of
/// HTTP that is none of ours (RFC 9112 section 2.3), else 400.
http::Refusal why_refused(std::string_view head, std::span<const http::FieldView> fields);

/// Why a head that does not end within `begin`, the first bytes of it, is refused: by the part that
/// is too long. RFC 9112 section 3: a method longer than any that is implemented is 501, a target
/// 414; a request line that goes on after them is malformed.
Failure fault_of_large_head(std::string_view begin);

/// Moves white space that stands before a field's colon behind it, in place; true if there was
/// some. A proxy takes it out of responses (RFC 9112 section 5.1).
bool move_space_behind_colons(std::span<char> head);

/// Parse one whole head; empty if it is not valid. The views point into `head`.
std::optional<RequestLine> parse_request_head(std::string_view head,
                                              std::vector<http::FieldView>& fields);
std::optional<StatusLine> parse_response_head(std::string_view head,
                                              std::vector<http::FieldView>& fields);

}  // namespace weir::proxy
