// Writes JSON objects that are not on the path of a request: of the admin API and the commands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::json {

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
