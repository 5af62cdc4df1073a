// The path that the upstream gets in place of the requested one: `strip_prefix` and `path` of a
// route.
//
// The requested path is divided into the segments that the route's pattern was compared with: runs
// of slashes are one slash and dot segments are resolved, but nothing is decoded. A captured
// segment is copied as it was sent. It contains no slash and no "?" and is no dot segment, so it
// stays one segment. Services that remove parameters or decode before they resolve dot segments
// read more of them, so a request with such a segment must be refused: has_hidden_dot_segment().
// Made once when a configuration is loaded; immutable and thread-safe
// afterwards.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "http/refusal.hpp"
#include "routing/path_pattern.hpp"

namespace weir::routing {

class PathRewrite {
 public:
  PathRewrite() = default;
  /// Parses the prefix that is removed. The pattern must begin with it.
  static Result<PathRewrite> strip(std::string_view prefix, const PathPattern& pattern);
  /// Parses a template: `/v2/{id}/items/**`, with named segments of the pattern, and "**" for what
  /// the "**" of the pattern matches.
  static Result<PathRewrite> to_template(std::string_view text, const PathPattern& pattern);

  /// True if the path is not changed.
  bool is_empty() const { return parts_.empty(); }
  bool strips() const { return strips_; }            ///< made by strip()
  const std::string& text() const { return text_; }  ///< the prefix or the template, as written

  /// Appends the target for the upstream: the new path, and the query of `target` with its "?".
  /// `path` is the path in `target` as it was sent, whose normal form matches the pattern. A path
  /// that does not start with "/" is not changed.
  void append_target(std::string& out, std::string_view path, std::string_view target) const;

  friend bool operator==(const PathRewrite&, const PathRewrite&) = default;

 private:
  /// Text, then a part of the requested path.
  struct Part {
    enum class Copies : unsigned char { nothing, segment, rest };
    std::string text;
    Copies copies = Copies::nothing;
    std::size_t segment = 0;  ///< its number; of `rest`, the first one
    friend bool operator==(const Part&, const Part&) = default;
  };

  std::string text_;
  bool strips_ = false;
  std::vector<Part> parts_;
};

/// True if a service may find a dot segment in `path` that its normal form does not resolve:
/// "..;x", or "." and ".." between encoded slashes, encoded once or twice.
bool has_hidden_dot_segment(std::string_view path);
/// The answer to a request with one, if the route changes the path.
inline constexpr http::Refusal hidden_dot_segment{
    400, "the path has a dot segment with parameters or between encoded slashes"};

}  // namespace weir::routing
