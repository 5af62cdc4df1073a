// Server-sent events (WHATWG HTML section 9.2.5 and 9.2.6) in arbitrary pieces: passes the data of
// each event to a JSON scanner, as one document.
//
// The caller removes a byte order mark. Lines end in LF, CR or CRLF. Only the field `data` is read,
// with or without one space after the colon; several data lines of an event are joined with LF.
// Comments and other fields are ignored. An event whose data does not begin with { or [ has no JSON
// and is ignored, whatever it is; [DONE] is an array without counts.
//
// Deviation: an event that no blank line ends is read as well. A browser discards it, but a service
// that closes the stream after its last line has produced what the event states. Not thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "usage/json_scanner.hpp"

namespace weir::usage {

class EventStream {
 public:
  void feed(std::string_view piece, JsonScanner& scanner);
  /// Ends the stream, and the event in progress.
  void finish(JsonScanner& scanner);

 private:
  enum class Line : std::uint8_t {
    name,   // may still be the field data, or end as a blank line
    colon,  // after the colon of data: a space may follow
    data,
    other,
  };
  enum class Content : std::uint8_t { unknown, json, other };

  void read_line(std::string_view part, JsonScanner& scanner);
  void read_name(std::string_view& part, JsonScanner& scanner);
  void read_data(std::string_view part, JsonScanner& scanner);
  void start_data(JsonScanner& scanner);
  void end_line(JsonScanner& scanner);
  void end_event(JsonScanner& scanner);

  Line line_ = Line::name;
  std::uint8_t matched_ = 0;  ///< characters of the field name
  Content content_ = Content::unknown;
  bool is_after_carriage_return_ = false;
};

}  // namespace weir::usage
