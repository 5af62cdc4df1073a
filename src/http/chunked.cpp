#include "http/chunked.hpp"

#include <algorithm>
#include <cassert>

#include "base/appender.hpp"
#include "http/characters.hpp"
#include "http/field_lines.hpp"

namespace weir::http {

ChunkedDecoder::Step ChunkedDecoder::next(std::string_view input) {
  std::size_t at = 0;
  while (state_ != State::done && state_ != State::malformed) {
    if (at == input.size()) return {.event = Event::need_more, .consumed = at};
    if (state_ == State::data) return data_step(input, at);
    if (state_ == State::trailers) return trailer_step(input, at);
    if (accept(input[at])) ++at;
  }
  return {.event = state_ == State::done ? Event::done : Event::malformed, .consumed = at};
}

bool ChunkedDecoder::accept(char c) {
  switch (state_) {
    case State::size_start:
    case State::size:
      return accept_size(c);
    case State::line_feed:
    case State::data_line_feed:
      return accept_line_feed(c);
    case State::data_carriage_return:
      state_ = State::data_line_feed;
      return c == '\r' || refuse("chunk data is not followed by CRLF");
    case State::quoted_value:
    case State::quoted_pair:
      return count_extension_byte() && accept_in_quotes(c);
    default:
      return (c == '\r' || count_extension_byte()) && accept_in_extension(c);
  }
}

bool ChunkedDecoder::accept_size(char c) {
  const int digit = hex_value(c);
  if (digit < 0) {
    if (state_ == State::size_start)
      return refuse("a chunk size does not start with a hexadecimal digit");
    if (c != '\r' && !count_extension_byte()) return false;
    return to_next_part(c, State::extension_start) ||
           refuse("a chunk size has characters other than hexadecimal digits");
  }
  if (state_ == State::size_start) {
    state_ = State::size;
    size_digits_ = 0;
    remaining_ = 0;
  }
  // 16 digits hold 64 bits; the first may not set the highest of them.
  if (++size_digits_ > 16 || remaining_ >> 59 != 0) return refuse("a chunk size is too large");
  remaining_ = remaining_ << 4 | static_cast<std::uint64_t>(digit);
  return true;
}

/// Handles the character after the size, a name or a value: the line ends, another extension
/// starts, or white space follows.
bool ChunkedDecoder::to_next_part(char c, State on_white_space) {
  if (c == '\r') {
    state_ = State::line_feed;
  } else if (c == ';') {
    state_ = State::name_start;
  } else if (is_white_space(c)) {
    state_ = on_white_space;
  } else {
    return false;
  }
  return true;
}

/// chunk-ext = *( BWS ";" BWS token [ BWS "=" BWS ( token / quoted-string ) ] ), RFC 9112 section
/// 7.1.1. White space must be followed by a part of an extension; before the end of the line it is
/// refused.
bool ChunkedDecoder::accept_in_extension(char c) {
  constexpr std::string_view fault = "a chunk extension is malformed";
  const bool white_space = is_white_space(c);
  switch (state_) {
    case State::extension_start:
    case State::value_end:
      if (white_space) return true;
      return (c == ';' && to_next_part(c, state_)) || refuse(fault);
    case State::name_start:
      if (white_space) return true;
      state_ = State::name;
      return is_token_character(c) || refuse(fault);
    case State::name:
      if (is_token_character(c)) return true;
      if (c == '=') state_ = State::value_start;
      return c == '=' || to_next_part(c, State::name_end) || refuse(fault);
    case State::name_end:
      if (white_space) return true;
      state_ = c == '=' ? State::value_start : State::name_start;
      return c == '=' || c == ';' || refuse(fault);
    case State::value_start:
      if (white_space) return true;
      state_ = c == '"' ? State::quoted_value : State::token_value;
      return c == '"' || is_token_character(c) || refuse(fault);
    case State::quoted_end:
      return to_next_part(c, State::value_end) || refuse(fault);
    default:  // token_value
      return is_token_character(c) || to_next_part(c, State::value_end) || refuse(fault);
  }
}

bool ChunkedDecoder::accept_in_quotes(char c) {
  if (is_control(c)) return refuse("a chunk extension has a control character");
  if (state_ == State::quoted_pair) {
    state_ = State::quoted_value;
  } else if (c == '\\') {
    state_ = State::quoted_pair;
  } else if (c == '"') {
    state_ = State::quoted_end;
  }
  return true;
}

bool ChunkedDecoder::accept_line_feed(char c) {
  if (c != '\n') return refuse("a carriage return without a line feed");
  if (state_ == State::data_line_feed) {
    state_ = State::size_start;
  } else {
    state_ = remaining_ == 0 ? State::trailers : State::data;
  }
  return true;
}

bool ChunkedDecoder::count_extension_byte() {
  ++extension_bytes_;
  return extension_bytes_ <= extension_allowance + payload_bytes_ ||
         refuse("too many bytes of chunk extensions");
}

bool ChunkedDecoder::refuse(std::string_view fault) {
  state_ = State::malformed;
  fault_ = fault;
  return false;
}

ChunkedDecoder::Step ChunkedDecoder::data_step(std::string_view input, std::size_t at) {
  const auto size =
      static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, input.size() - at));
  remaining_ -= size;
  payload_bytes_ += size;
  if (remaining_ == 0) state_ = State::data_carriage_return;
  return {.event = Event::payload, .consumed = at + size, .payload = input.substr(at, size)};
}

ChunkedDecoder::Step ChunkedDecoder::trailer_step(std::string_view input, std::size_t at) {
  const std::string_view rest = input.substr(at);
  const std::string_view line = rest.substr(0, rest.find_first_of("\r\n"));
  const std::string_view end = rest.substr(line.size(), 2);
  Step malformed{.event = Event::malformed, .consumed = at};
  if (line.size() > trailer_line_limit || trailer_bytes_ + line.size() > trailer_limit) {
    refuse("the trailer section is too long");
    return malformed;
  }
  if (end.empty() || end == "\r") return {.event = Event::need_more, .consumed = at};
  if (end != "\r\n") {
    refuse("a line of the trailer section does not end in CRLF");
    return malformed;
  }
  const std::size_t consumed = at + line.size() + end.size();
  trailer_bytes_ += line.size() + end.size();
  if (!line.empty()) return trailer_field(line, consumed);
  state_ = State::done;
  return {.event = Event::done, .consumed = consumed};
}

ChunkedDecoder::Step ChunkedDecoder::trailer_field(std::string_view line, std::size_t consumed) {
  const auto colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  if (colon == std::string_view::npos || !is_token(name) ||
      !is_field_value(line.substr(colon + 1))) {
    refuse("a trailer field is malformed");
    return {.event = Event::malformed, .consumed = consumed};
  }
  const FieldView field{.id = boost::beast::http::string_to_field({name.data(), name.size()}),
                        .name = name,
                        .value = trimmed(line.substr(colon + 1))};
  return {.event = Event::trailer, .consumed = consumed, .trailer = field};
}

void append_chunk(std::string& out, std::string_view payload) {
  assert(!payload.empty() && "an empty chunk would end the body");
  append_number<16>(out, payload.size());
  out.append("\r\n").append(payload).append("\r\n");
}

void append_last_chunk(std::string& out, const FieldSection& trailers) {
  Appender end(out);
  end.add("0\r\n");
  append_field_lines(end, trailers);
  end.add("\r\n");
}

}  // namespace weir::http
