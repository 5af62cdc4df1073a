// Appends commands in RESP, arrays of bulk strings, to a buffer of the caller.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::redis {

class Digits {
 public:
  explicit Digits(std::int64_t value)
      : end_(std::to_chars(text_.data(), text_.data() + text_.size(), value).ptr) {}
  std::string_view view() const { return {text_.data(), end_}; }

 private:
  std::array<char, 20> text_{};
  char* end_;
};

/// Begins a command of `count` bulk strings.
inline void append_array_header(std::string& out, std::size_t count) {
  out += '*';
  out += Digits(static_cast<std::int64_t>(count)).view();
  out += "\r\n";
}

/// Begins a bulk string; `size` bytes and CRLF follow.
inline void append_bulk_header(std::string& out, std::size_t size) {
  out += '$';
  out += Digits(static_cast<std::int64_t>(size)).view();
  out += "\r\n";
}

inline void append_bulk(std::string& out, std::string_view text) {
  append_bulk_header(out, text.size());
  out += text;
  out += "\r\n";
}

inline void append_number(std::string& out, std::int64_t value) {
  append_bulk(out, Digits(value).view());
}

}  // namespace weir::redis
