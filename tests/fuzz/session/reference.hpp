// A second parser of HTTP/1.1, written from RFC 9112 without code of the proxy. The fuzz target
// compares both sides of a session with it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weir::fuzz {

struct Field {
  std::string_view name;
  std::string_view value;
};

bool equals(std::string_view a, std::string_view b);  ///< without regard to case

/// A request or an answer at the front of some text, which its views point into.
struct Message {
  enum class State : unsigned char { malformed, incomplete, complete };
  enum class Body : unsigned char { none, length, chunked, until_close };

  State state = State::incomplete;
  bool has_head = false;                  ///< the head is complete
  std::string_view first, second, third;  ///< of the first line
  std::vector<Field> fields;
  Body framing = Body::none;
  std::string body;
  std::vector<Field> trailers;
  std::size_t head_size = 0;
  std::size_t size = 0;  ///< of what was read of it

  std::size_t count(std::string_view name) const;
  /// The first of that name; empty if there is none.
  std::string_view value(std::string_view name) const;
  bool is_old() const { return first == "HTTP/1.0" || third == "HTTP/1.0"; }
  /// `option` is an element of a Connection field.
  bool has_option(std::string_view option) const;
  int status() const;  ///< of an answer
};

/// `lenient`: accepts what a recipient may ignore (empty lines before a request, empty elements in
/// a list of codings, chunk extensions); else only what a strict sender writes.
Message read_request(std::string_view text, bool lenient);
/// `method`: of the request. With `has_ended`, a body that lasts until then is complete.
Message read_answer(std::string_view text, std::string_view method, bool has_ended);

}  // namespace weir::fuzz
