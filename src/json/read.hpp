// Reads JSON (RFC 8259) of strangers into a tree, with limits on depth and memory.
//
// The syntax is that of nlohmann/json, which also checks UTF-8. This reader rejects in addition
// what that library accepts and other parsers read differently: a member name that appears twice in
// an object, a byte order mark, and a NUL byte, where that library would end (ADR 0028).
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace weir::json {

enum class Kind : std::uint8_t { null, boolean, number, string, list, object };

struct Member;

struct Value {
  Kind kind = Kind::null;
  /// The decoded string, `true` or `false`, or the number: exact digits, never rounded.
  std::string text;
  /// The members of an object by name, or the values of a list, whose names are empty.
  std::vector<Member> members;

  /// Returns the member of an object; nullptr if there is none.
  const Value* find(std::string_view name) const;
};

struct Member {
  std::string name;
  Value value;
};

enum class ReadError : std::uint8_t {
  syntax,            ///< also text that is not UTF-8, and numbers beyond the range of a double
  duplicate_member,  ///< at any depth (RFC 7515 section 4: reject)
  too_deep,
  too_many_values,
};

struct Limits {
  std::size_t depth = 32;      ///< of lists and objects within each other
  std::size_t values = 8'192;  ///< each needs about 100 bytes of memory
};

/// Takes time in proportion to the size of the text.
Result<Value, ReadError> read(std::string_view text, const Limits& limits);

}  // namespace weir::json
