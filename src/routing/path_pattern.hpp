// Path patterns: /exact, /v1/* (one segment), /v1/** (any depth, also none), /users/{id} (one
// segment with a name).
//
// Matching is on the path as received: nothing is decoded, no dot segment resolved. Pure;
// thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace weir::routing {

/// Captured segments, in the pattern's order. No more than path_parameter_limit in a pattern.
inline constexpr std::size_t path_parameter_limit = 8;

class PathPattern {
 public:
  static Result<PathPattern> parse(std::string_view text);

  /// Fills captures[i] with the value of parameters()[i]; captures has room for
  /// path_parameter_limit.
  bool matches(std::string_view path, std::string_view* captures) const;
  const std::vector<std::string>& parameters() const { return parameters_; }
  const std::string& text() const { return text_; }

 private:
  enum class Kind : unsigned char { literal, any, parameter, rest };
  struct Segment {
    Kind kind;
    std::string literal;
  };
  std::optional<std::string> add(std::string_view segment, bool is_last);
  std::optional<std::string> add_parameter(std::string_view name);

  std::string text_;
  std::vector<Segment> segments_;
  std::vector<std::string> parameters_;
};

}  // namespace weir::routing
