// Writes text as JSON strings (RFC 8259 section 7), and objects that are not on the path of a
// request: those of the admin API and of the commands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/appender.hpp"

namespace weir::json {

/// Appends `text` as a JSON string with its quotes; invalid UTF-8 becomes U+FFFD. Characters that a
/// terminal or a line reader may interpret are escaped as well: C1 controls, U+2028 and U+2029.
void append_string(Appender& out, std::string_view text);
void append_string(std::string& out, std::string_view text);

/// The same without the quotes.
void append_escaped(Appender& out, std::string_view text);

/// An object, whose members are in the order of the calls.
class Object {
 public:
  Object& text(std::string_view name, std::string_view value);
  Object& number(std::string_view name, std::int64_t value);
  Object& flag(std::string_view name, bool value);
  Object& texts(std::string_view name, const std::vector<std::string>& values);
  /// `value`: JSON text.
  Object& json(std::string_view name, std::string_view value);
  /// Adds the members of another object: its JSON text without the braces.
  Object& members(std::string_view json);

  /// The text with its braces.
  std::string str() const { return '{' + text_ + '}'; }
  /// The text without its braces.
  const std::string& members() const { return text_; }

 private:
  std::string text_;
};

/// A list of values, which are JSON texts.
std::string list_of(const std::vector<std::string>& values);

}  // namespace weir::json
