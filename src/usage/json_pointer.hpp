// JSON pointers (RFC 6901): /usage/total_tokens, with ~1 for a slash and ~0 for a tilde within a
// reference token.
//
// A reference token is compared with the decoded names of members byte for byte, without Unicode
// normalisation (RFC 6901 section 4). If it consists of digits without leading zeros it is also
// the index of an array's element. "-" is the element after the last one: it never exists. The
// pointer "" (the whole document) is not accepted. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace weir::usage {

struct ReferenceToken {
  static constexpr std::uint64_t no_index = std::numeric_limits<std::uint64_t>::max();

  std::string text;  ///< decoded
  std::uint64_t index = no_index;
  friend bool operator==(const ReferenceToken&, const ReferenceToken&) = default;
};

class JsonPointer {
 public:
  static constexpr std::size_t longest = 256;  ///< bytes, as written
  static constexpr std::size_t deepest = 16;   ///< reference tokens

  /// Parses a pointer as written in the configuration. The problem is a message for its author.
  static Result<JsonPointer> parse(std::string_view text);

  std::size_t depth() const { return tokens_.size(); }  ///< at least 1
  const ReferenceToken& operator[](std::size_t level) const { return tokens_[level]; }
  const std::string& text() const { return text_; }  ///< as written
  friend bool operator==(const JsonPointer&, const JsonPointer&) = default;

 private:
  std::string text_;
  std::vector<ReferenceToken> tokens_;
};

}  // namespace weir::usage
