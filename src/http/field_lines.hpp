// Fields as HTTP/1 writes them: a line for each, ended by CRLF (RFC 9112 section 5). Pure.
#pragma once

#include <string_view>

#include "base/appender.hpp"
#include "http/field_section.hpp"
#include "http/request_view.hpp"

namespace weir::http {

inline void append_field_line(Appender& out, std::string_view name, std::string_view value) {
  using namespace std::string_view_literals;
  out.add_all(name, ": "sv, value, "\r\n"sv);
}

inline void append_field_lines(Appender& out, const FieldSection& fields) {
  out.add(fields.lines_);
}

/// Writes fields as lines. It has the functions of FieldSection that a function for both HTTP/1 and
/// HTTP/2 calls.
class FieldLines {
 public:
  explicit FieldLines(Appender& out) : out_(out) {}
  void add(std::string_view name, std::string_view value) { append_field_line(out_, name, value); }
  void add(const FieldView& field) { add(field.name, field.value); }
  void add(const FieldSection& fields) { append_field_lines(out_, fields); }
  /// Adds a field whose value `build` appends to the Appender that it gets.
  template <class Build>
  [[gnu::always_inline]] void add_built(std::string_view name, const Build& build) {
    out_.add(name).add(": ");
    build(out_);
    out_.add("\r\n");
  }

 private:
  Appender& out_;
};

}  // namespace weir::http
