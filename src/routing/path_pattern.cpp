#include "routing/path_pattern.hpp"

#include <algorithm>

#include "http/characters.hpp"
#include "http/request_view.hpp"
#include "routing/segments.hpp"

namespace weir::routing {
namespace {

constexpr auto npos = std::string_view::npos;

bool is_parameter_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return http::is_alpha(c) || http::is_digit(c) || c == '_' || c == '-';
  });
}

/// RFC 3986 section 2.3.
bool is_unreserved(char c) {
  return http::is_alpha(c) || http::is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

/// The one spelling of a pattern that is accepted: unreserved characters are not escaped, no
/// segment is empty or made of dots.
std::string normal_spelling(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int c = http::escape_at(text.substr(i));
    const bool is_needless = c >= 0 && is_unreserved(static_cast<char>(c));
    decoded += is_needless ? static_cast<char>(c) : text[i];
    if (is_needless) i += 2;
  }
  std::string normal;
  append_segments(normal, decoded);
  return normal;
}

Problem in_pattern(std::string_view text, std::string_view what) {
  return Problem{"path \"" + std::string{text} + "\": " + std::string{what}};
}

}  // namespace

Result<PathPattern> PathPattern::parse(std::string_view text, const PathEncodings& tolerated) {
  if (!text.starts_with('/')) return in_pattern(text, "must start with \"/\"");
  if (std::any_of(text.begin(), text.end(), [](char c) {
        return http::is_control(c) || http::is_white_space(c) || c == '?' || c == '#';
      })) {
    return in_pattern(
        text, "has a space, a control character, \"?\" or \"#\"; a pattern is for the path only");
  }
  if (const std::string normal = normal_spelling(text); normal != text)
    return in_pattern(text,
                      "is never matched: requests are matched in the form \"" + normal + "\"");
  PathPattern pattern;
  pattern.text_ = text;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view segment = take_segment(rest);
    if (auto fault = pattern.add(segment, rest.empty(), tolerated)) return in_pattern(text, *fault);
  }
  return pattern;
}

std::optional<std::string> PathPattern::add(std::string_view segment, bool is_last,
                                            const PathEncodings& tolerated) {
  if (segment == "**") {
    if (!is_last) return "\"**\" matches all that follows and must come last";
    segments_.push_back({Kind::rest, {}});
  } else if (segment == "*") {
    segments_.push_back({Kind::any, {}});
  } else if (segment.starts_with('{') && segment.ends_with('}')) {
    return add_parameter(segment.substr(1, segment.size() - 2));
  } else if (segment.find_first_of("*{}") != npos) {
    return "\"*\", \"**\" and \"{name}\" stand for whole segments; \"" + std::string{segment} +
           "\" has one within other text";
  } else {
    return add_literal(segment, tolerated);
  }
  return std::nullopt;
}

std::optional<std::string> PathPattern::add_literal(std::string_view segment,
                                                    const PathEncodings& tolerated) {
  if (segment.find('%') == npos) {
    segments_.push_back({Kind::literal, std::string{segment}});
    return std::nullopt;
  }
  PathReadings readings;
  const std::string path = "/" + std::string{segment};
  if (const auto refusal = readings.read(path, {.tolerated = tolerated})) {
    return "is never matched, because requests for it are refused: " + std::string{refusal->detail};
  }
  encodings_.slashes |= readings.encodings().slashes;
  encodings_.doubled |= readings.encodings().doubled;
  segments_.push_back({Kind::literal, std::string{readings.all().front().text.substr(1)}});
  return std::nullopt;
}

std::optional<std::string> PathPattern::add_parameter(std::string_view name) {
  const std::string shown = "\"{" + std::string{name} + "}\"";
  if (!is_parameter_name(name)) return shown + ": a name is letters, digits, \"_\" and \"-\"";
  if (std::find(parameters_.begin(), parameters_.end(), name) != parameters_.end())
    return shown + " is named twice";
  if (parameters_.size() == path_parameter_limit) {
    return "more than " + std::to_string(path_parameter_limit) + " named segments";
  }
  parameters_.emplace_back(name);
  segments_.push_back({Kind::parameter, {}});
  return std::nullopt;
}

bool PathPattern::has_upper_case() const {
  return std::any_of(segments_.begin(), segments_.end(), [](const Segment& segment) {
    return std::any_of(segment.literal.begin(), segment.literal.end(),
                       [](char c) { return c >= 'A' && c <= 'Z'; });
  });
}

bool PathPattern::has_literal() const {
  return std::any_of(segments_.begin(), segments_.end(), [](const Segment& segment) {
    return segment.kind == Kind::literal && !segment.literal.empty();
  });
}

bool PathPattern::matches(const PathReading& reading, std::string_view* captures) const {
  std::string_view path = reading.text;
  std::size_t count = segments_.size();
  if (reading.ignores_trailing_slash) {
    path = without_trailing_slash(path);
    if (has_trailing_slash()) --count;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Segment& segment = segments_[i];
    if (segment.kind == Kind::rest) return true;
    if (path.empty() || path.front() != '/') return false;
    const std::string_view found = take_segment(path);
    if (segment.kind != Kind::literal) {
      if (found.empty()) return false;
      if (segment.kind == Kind::parameter && captures != nullptr) *captures++ = found;
    } else if (found != segment.literal &&
               !(reading.ignores_case && http::iequals(found, segment.literal))) {
      return false;
    }
  }
  return path.empty();
}

}  // namespace weir::routing
