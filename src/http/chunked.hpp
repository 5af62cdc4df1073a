// The chunked transfer coding (RFC 9112 section 7.1): an incremental, strict decoder, and functions
// to encode.
//
// The decoder reads bytes in the caller's buffer and returns views into them; it stores counters
// only and allocates nothing. The payload can be chunked again or sent without a coding. Refuses
// sizes with other characters than hexadecimal digits or above 2^63 - 1, line ends other than CRLF,
// malformed extensions and trailer fields, and messages that are mostly extensions. Extensions are
// dropped, as every recipient may do (section 7.1.1). Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/field_section.hpp"
#include "http/request_view.hpp"

namespace weir::http {

class ChunkedDecoder {
 public:
  /// The bytes of extensions that are accepted in any message; beyond them no more than there is
  /// payload.
  static constexpr std::uint64_t extension_allowance = 4096;
  /// The longest field line of the trailer section: the room that a caller's buffer must have for
  /// bytes not consumed.
  static constexpr std::size_t trailer_line_limit = 4096;
  static constexpr std::size_t trailer_limit = 8192;  ///< all lines together

  enum class Event : std::uint8_t {
    need_more,  ///< nothing to report; an incomplete trailer line is not consumed and must be
                ///< passed again, with more bytes
    payload,    ///< `payload` is the next piece of the body; not empty
    trailer,    ///< `trailer` is one field of valid syntax; the caller decides whether it is
                ///< forwarded
    done,       ///< the message ends with the bytes consumed; the next message follows
    malformed,  ///< final; fault() returns the reason
  };
  struct Step {
    Event event = Event::need_more;
    std::size_t consumed = 0;
    std::string_view payload{};
    FieldView trailer{};
  };

  /// Reads the bytes that follow those consumed so far, up to the next event to report.
  Step next(std::string_view input);

  std::string_view fault() const { return fault_; }  ///< a literal

 private:
  enum class State : std::uint8_t {
    size_start,
    size,
    extension_start,  // white space after the size: a semicolon must follow
    name_start,
    name,
    name_end,
    value_start,
    token_value,
    quoted_value,
    quoted_pair,
    quoted_end,
    value_end,
    line_feed,
    data,
    data_carriage_return,
    data_line_feed,
    trailers,
    done,
    malformed,
  };

  bool accept(char c);
  bool accept_size(char c);
  bool accept_in_extension(char c);
  bool accept_in_quotes(char c);
  bool accept_line_feed(char c);
  bool to_next_part(char c, State on_white_space);
  bool count_extension_byte();
  bool refuse(std::string_view fault);
  Step data_step(std::string_view input, std::size_t at);
  Step trailer_step(std::string_view input, std::size_t at);
  Step trailer_field(std::string_view line, std::size_t consumed);

  State state_ = State::size_start;
  std::uint8_t size_digits_ = 0;
  std::uint64_t remaining_ = 0;  ///< of the chunk
  std::uint64_t payload_bytes_ = 0;
  std::uint64_t extension_bytes_ = 0;
  std::size_t trailer_bytes_ = 0;
  std::string_view fault_;
};

/// Appends a whole chunk. `payload` must not be empty: an empty chunk is the last one.
void append_chunk(std::string& out, std::string_view payload);
/// Appends the last chunk and the trailer section.
void append_last_chunk(std::string& out, const FieldSection& trailers);

}  // namespace weir::http
