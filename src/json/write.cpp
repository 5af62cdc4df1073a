#include "json/write.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/eight_bytes.hpp"
#include "base/utf8.hpp"

namespace weir::json {
namespace {

void append_escape(Appender& out, unsigned code) {
  constexpr std::string_view digits = "0123456789abcdef";
  out.add("\\u");
  for (int shift = 12; shift >= 0; shift -= 4)
    out.add(digits[code >> shift & 15]);
}

void append_control(Appender& out, char c) {
  switch (c) {
    case '\n':
      out.add("\\n");
      return;
    case '\r':
      out.add("\\r");
      return;
    case '\t':
      out.add("\\t");
      return;
    default:
      append_escape(out, static_cast<unsigned char>(c));
  }
}

/// Returns the code point of `sequence`, well-formed UTF-8, if it is escaped: U+0080 to U+009F,
/// which some terminals interpret, and U+2028 and U+2029, which end a line for some readers.
std::optional<unsigned> obeyed(std::string_view sequence) {
  const auto last = static_cast<unsigned char>(sequence.back());
  if (sequence.size() == 2 && sequence.front() == '\xc2' && last < 0xa0) return last;
  if (sequence == "\u2028" || sequence == "\u2029") return 0x2000U | (last & 0x3fU);
  return std::nullopt;
}

/// True if the character is written as it is.
bool is_plain(char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/// True if one of the eight characters at `text` must be escaped.
bool has_odd(const char* text) {
  const std::uint64_t bytes = eight_bytes(text);
  return (less_than(bytes, 0x20) | zeros_in(bytes ^ in_each_byte('"')) |
          zeros_in(bytes ^ in_each_byte('\\')) | zeros_in(bytes ^ in_each_byte(0x7f)) |
          (bytes & in_each_byte(0x80))) != 0;
}

/// Nearly all texts need no escape.
bool is_plain(std::string_view text) {
  constexpr std::size_t word = 8;
  if (text.size() < word)
    return std::all_of(text.begin(), text.end(), [](char c) { return is_plain(c); });
  const std::size_t last = text.size() - word;
  for (std::size_t at = 0; at < last; at += word) {
    if (has_odd(text.data() + at)) return false;
  }
  return !has_odd(text.data() + last);
}

}  // namespace

Object& Object::text(std::string_view name, std::string_view value) {
  std::string quoted;
  append_string(quoted, value);
  return json(name, quoted);
}

Object& Object::number(std::string_view name, std::int64_t value) {
  return json(name, std::to_string(value));
}

Object& Object::flag(std::string_view name, bool value) {
  return json(name, value ? "true" : "false");
}

Object& Object::texts(std::string_view name, const std::vector<std::string>& values) {
  std::vector<std::string> quoted(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    append_string(quoted[i], values[i]);
  return json(name, list_of(quoted));
}

Object& Object::json(std::string_view name, std::string_view value) {
  if (!text_.empty()) text_ += ',';
  append_string(text_, name);
  text_.append(":").append(value);
  return *this;
}

Object& Object::members(std::string_view json) {
  if (!text_.empty() && !json.empty()) text_ += ',';
  text_ += json;
  return *this;
}

std::string list_of(const std::vector<std::string>& values) {
  std::string text = "[";
  for (const std::string& value : values)
    text.append(text.size() > 1 ? "," : "").append(value);
  return text += ']';
}

void append_escaped(Appender& out, std::string_view text) {
  if (is_plain(text)) {
    out.add(text);
    return;
  }
  while (!text.empty()) {
    const auto* const odd =
        std::find_if_not(text.begin(), text.end(), [](char c) { return is_plain(c); });
    const auto plain = static_cast<std::size_t>(odd - text.begin());
    out.add(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) return;
    const auto [length, well_formed] = next_utf8(text);
    const char c = text.front();
    if (!well_formed) {
      out.add("\uFFFD");
    } else if (c == '"' || c == '\\') {
      out.add('\\').add(c);
    } else if (length == 1 && static_cast<unsigned char>(c) < 0x20) {
      append_control(out, c);
    } else if (const auto code = obeyed(text.substr(0, length))) {
      append_escape(out, *code);
    } else {
      out.add(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
}

void append_string(Appender& out, std::string_view text) {
  out.add('"');
  append_escaped(out, text);
  out.add('"');
}

void append_string(std::string& out, std::string_view text) {
  Appender end(out);
  append_string(end, text);
}

}  // namespace weir::json
