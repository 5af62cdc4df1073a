// Path patterns: /exact, /v1/* (one segment), /v1/** (any depth, including none), /users/{id} (one
// segment with a name).
//
// A pattern is compared with one reading of a path (path_readings.hpp), which is decoded; escapes
// in a pattern are decoded too. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "routing/path_readings.hpp"

namespace weir::routing {

/// Captured segments, in the pattern's order. No more than path_parameter_limit in a pattern.
inline constexpr std::size_t path_parameter_limit = 8;

class PathPattern {
 public:
  /// Parses a pattern. An encoding that requests are refused for is an error, unless the pattern's
  /// route tolerates it.
  static Result<PathPattern> parse(std::string_view text, const PathEncodings& tolerated = {});

  enum class Kind : unsigned char { literal, any, parameter, rest };
  struct Segment {
    Kind kind;
    std::string literal;  ///< decoded
    friend bool operator==(const Segment&, const Segment&) = default;
  };

  /// Fills captures[i] with the value of parameters()[i], a part of the reading's text; captures
  /// has room for path_parameter_limit, or is nullptr to capture nothing.
  bool matches(const PathReading& path, std::string_view* captures) const;
  const std::vector<std::string>& parameters() const { return parameters_; }
  /// The number of segments. "/a/" has two, the second of which is empty.
  std::span<const Segment> segments() const { return segments_; }
  const PathEncodings& encodings() const { return encodings_; }  ///< in its literals
  const std::string& text() const { return text_; }              ///< as written
  bool has_upper_case() const;
  bool has_literal() const;  ///< false: it matches most paths of its depth
  bool has_trailing_slash() const { return text_.size() > 1 && text_.back() == '/'; }
  friend bool operator==(const PathPattern&, const PathPattern&) = default;

 private:
  std::optional<std::string> add(std::string_view segment, bool is_last,
                                 const PathEncodings& tolerated);
  std::optional<std::string> add_parameter(std::string_view name);
  std::optional<std::string> add_literal(std::string_view segment, const PathEncodings& tolerated);

  std::string text_;
  std::vector<Segment> segments_;
  std::vector<std::string> parameters_;
  PathEncodings encodings_;
};

}  // namespace weir::routing
