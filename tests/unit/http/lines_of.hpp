// The fields of a section as lines, for comparisons.
#pragma once

#include <string>

#include "http/field_lines.hpp"

namespace weir::http {

inline std::string lines_of(const FieldSection& fields) {
  std::string text;
  {
    Appender out(text);
    append_field_lines(out, fields);
  }
  return text;
}

}  // namespace weir::http
