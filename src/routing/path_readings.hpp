// The ways in which services read one path.
//
// A service decodes the path before it selects a handler, and many services ignore differences
// between two spellings (PathVariants). A path that has such a difference is matched with it and
// without it, so that no spelling leads past the limits of a route. A path whose structure depends
// on how often or where it is decoded is refused.
//
// The normal form is the first reading: percent-encoded characters are decoded (RFC 3986
// section 6.2.2.2), runs of slashes are one slash, dot segments are resolved (section 5.2.4). The
// upstream receives the path as the client sent it. Pure; one object belongs to one thread.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <boost/container/static_vector.hpp>

#include "http/refusal.hpp"

namespace weir::routing {

/// Differences between two spellings of a path that many services ignore.
///
/// A path that has one of them is matched with the difference and without it, and the limits of all
/// routes found apply.
struct PathVariants {
  bool letter_case = true;         ///< /Login and /login
  bool trailing_slash = true;      ///< /login/ and /login
  bool repeated_slashes = true;    ///< //login, //host/login and /login
  bool dot_segments = true;        ///< /a/../login and /login
  bool parameters = true;          ///< /login;v=1 and /login, and /login;/x
  bool encoded_delimiters = true;  ///< /login%3Fx, /login%23x, /login%3Bx and /login
  friend bool operator==(const PathVariants&, const PathVariants&) = default;
};

/// One way to read a path.
struct PathReading {
  std::string_view text;  ///< decoded; a slash that this reading leaves encoded stays "%2F"
  bool ignores_case = false;
  bool ignores_trailing_slash = false;
};

/// Encodings that are accepted only for some services.
struct PathEncodings {
  bool slashes = false;  ///< "%2F"
  bool doubled = false;  ///< an escape that appears after decoding, such as "%2561"
  friend bool operator==(const PathEncodings&, const PathEncodings&) = default;
};

/// The options of a set of routes that decide how many readings a path has.
struct ReadingOptions {
  PathVariants variants{};
  PathEncodings tolerated{};             ///< by at least one route
  bool has_upper_case_patterns = false;  ///< a path in lower case can match other routes
  bool has_trailing_slash_patterns = false;
};

class PathReadings {
 public:
  /// A path with more readings is refused. Each difference doubles them, so a path may have four
  /// differences, or fewer if patterns have upper case or a trailing slash.
  static constexpr std::size_t limit = 16;

  PathReadings() = default;
  PathReadings(const PathReadings&) = delete;  // the readings are views into the object's texts
  PathReadings& operator=(const PathReadings&) = delete;

  /// Reads `path`, which begins with "/", or is "*". `path` must live as long as the readings.
  ///
  /// Refuses with 400: an encoded backslash, an encoded control character, an encoded dot segment,
  /// an encoded slash or a double encoding that no route tolerates, and more than `limit` readings.
  /// A "%" without two hexadecimal digits stands for itself.
  std::optional<http::Refusal> read(std::string_view path, const ReadingOptions& options);

  /// The readings, the normal form first.
  std::span<const PathReading> all() const { return {readings_.data(), readings_.size()}; }
  const PathEncodings& encodings() const { return encodings_; }

 private:
  struct Form {
    bool splits_encoded_slashes = false;  ///< and backslashes
    bool strips_parameters = false;
    bool cuts_encoded_delimiters = false;  ///< at an encoded "?", "#" or ";"
    bool drops_authority = false;          ///< "//host/path" is "/path"
    bool keeps_repeated_slashes = false;
    bool keeps_dot_segments = false;
    bool merges_last = false;  ///< merges slashes after dot segments have been resolved
  };
  static bool is_within(const Form& form, const Form& possible);
  static void append_decoded(std::string& out, std::string_view path, const Form& form);
  std::optional<http::Refusal> read_encoded(std::string_view path, const PathEncodings& tolerated);
  std::string_view text_of(std::string_view path, const Form& form);
  bool add_text(std::string_view text, bool has_upper_case, const ReadingOptions& options);
  std::optional<http::Refusal> add_forms(std::string_view path, const Form& possible,
                                         const ReadingOptions& options);

  boost::container::static_vector<PathReading, limit> readings_;
  PathEncodings encodings_;
  bool has_encoded_delimiters_ = false;
  std::array<std::string, limit + 1> texts_;  ///< decoded; the capacity is kept for the next path
  std::size_t text_count_ = 0;
  std::string scratch_;
};

}  // namespace weir::routing
