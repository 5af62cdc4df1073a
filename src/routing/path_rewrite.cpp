#include "routing/path_rewrite.hpp"

#include <algorithm>
#include <optional>

#include "http/characters.hpp"
#include "routing/segments.hpp"

namespace weir::routing {
namespace {

using Kind = PathPattern::Kind;

/// pchar without "%" (RFC 3986 section 3.3).
constexpr auto path_characters = http::alphanumeric_or("-._~!$&'()*+,;=:@");

/// Returns why the text cannot be a segment of a path that is sent; nothing if it can.
std::optional<std::string> fault_of_literal(std::string_view segment) {
  if (segment == "." || segment == "..")
    return "\"" + std::string(segment) + "\" is a dot segment; write the path without it";
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const bool is_escape = http::escape_at(segment.substr(i)) >= 0;
    if (!is_escape && !path_characters[static_cast<unsigned char>(segment[i])])
      return "has a character that a path cannot have; percent-encode it, such as %20 for a space";
    const int escaped = is_escape ? http::escape_at(segment.substr(i)) : -1;
    if (escaped == '.' || escaped == '/' || escaped == '\\')
      return "has an encoded dot, slash or backslash, which services read in two ways; write it "
             "without the encoding";
  }
  return std::nullopt;
}

std::optional<std::string> fault_of_path(std::string_view text) {
  if (!text.starts_with('/')) return "must start with \"/\", such as /v2";
  if (text.find_first_of("?#") != std::string_view::npos)
    return "has \"?\" or \"#\"; remove it: the query of the request is sent unchanged";
  if (text.find("//") != std::string_view::npos) return "has an empty segment; write one slash";
  return std::nullopt;
}

std::string decoded(std::string_view segment) {
  std::string text;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const int c = http::escape_at(segment.substr(i));
    text += c < 0 ? segment[i] : static_cast<char>(c);
    if (c >= 0) i += 2;
  }
  return text;
}

/// The number of the segment that has this name in the pattern.
std::optional<std::size_t> segment_of(const PathPattern& pattern, std::string_view name) {
  const auto& names = pattern.parameters();
  const auto wanted = std::ranges::find(names, name) - names.begin();
  std::ptrdiff_t parameter = 0;
  for (std::size_t i = 0; i < pattern.segments().size(); ++i) {
    if (pattern.segments()[i].kind == Kind::parameter && parameter++ == wanted) return i;
  }
  return std::nullopt;
}

std::string advice_on_names(const PathPattern& pattern) {
  std::string text;
  for (const std::string& name : pattern.parameters())
    text += (text.empty() ? "{" : ", {") + name + "}";
  return text.empty() ? "give one of its segments this name"
                      : "use one of its named segments: " + text;
}

/// True for a dot segment between slashes or backslashes.
bool has_dot_part(std::string_view decoded) {
  for (;;) {
    const std::size_t end = std::min(decoded.find_first_of("/\\"), decoded.size());
    if (is_dot_segment(decoded.substr(0, end))) return true;
    if (end == decoded.size()) return false;
    decoded.remove_prefix(end + 1);
  }
}

/// Skips segments of a path that begins with a slash.
std::string_view after_segments(std::string_view path, std::size_t count) {
  for (; count != 0 && !path.empty(); --count)
    take_segment(path);
  return path;
}

}  // namespace

Result<PathRewrite> PathRewrite::strip(std::string_view prefix, const PathPattern& pattern) {
  if (const auto fault = fault_of_path(prefix)) return Problem{*fault};
  if (prefix.ends_with('/'))
    return Problem{prefix == "/" ? "\"/\" is what every path begins with; remove the key"
                                 : "ends with a slash; write it without"};
  std::size_t count = 0;
  for (std::string_view rest = prefix; !rest.empty(); ++count) {
    const std::string_view segment = take_segment(rest);
    if (segment.find_first_of("*{}") != std::string_view::npos)
      return Problem{
          "has a \"*\" or a \"{name}\"; to remove such segments, write path: /** or a "
          "template instead"};
    if (auto fault = fault_of_literal(segment)) return Problem{*std::move(fault)};
    const bool is_in_pattern = count < pattern.segments().size() &&
                               pattern.segments()[count].kind == Kind::literal &&
                               pattern.segments()[count].literal == decoded(segment);
    if (!is_in_pattern)
      return Problem{"the path of match does not begin with it; write match: {path: " +
                     std::string(prefix) + "/**}"};
  }
  PathRewrite rewrite;
  rewrite.text_ = prefix;
  rewrite.strips_ = true;
  rewrite.parts_ = {{.text = {}, .copies = Part::Copies::rest, .segment = count}};
  return rewrite;
}

Result<PathRewrite> PathRewrite::to_template(std::string_view text, const PathPattern& pattern) {
  if (const auto fault = fault_of_path(text)) return Problem{*fault};
  PathRewrite rewrite;
  rewrite.text_ = text;
  std::string literal;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view segment = take_segment(rest);
    if (segment == "**") {
      const auto segments = pattern.segments();
      if (!rest.empty()) return Problem{"\"**\" must come last"};
      if (segments.back().kind != Kind::rest)
        return Problem{"has \"**\", but the path of match does not end with \"**\""};
      rewrite.parts_.push_back({.text = std::move(literal),
                                .copies = Part::Copies::rest,
                                .segment = segments.size() - 1});
      literal.clear();
    } else if (segment.starts_with('{') && segment.ends_with('}')) {
      const auto number = segment_of(pattern, segment.substr(1, segment.size() - 2));
      if (!number)
        return Problem{"the path of match has no " + std::string(segment) + "; " +
                       advice_on_names(pattern)};
      rewrite.parts_.push_back(
          {.text = literal + '/', .copies = Part::Copies::segment, .segment = *number});
      literal.clear();
    } else if (segment == "*") {
      return Problem{
          "\"*\" has no name; give the segment one in the path of match, such as {name}, "
          "and use it here"};
    } else if (segment.find_first_of("*{}") != std::string_view::npos) {
      return Problem{"\"**\" and \"{name}\" stand for whole segments; \"" + std::string(segment) +
                     "\" has one within other text"};
    } else if (segment.size() > 1 && (segment[0] == '$' || segment[0] == ':')) {
      return Problem{"a named segment is written {name}, as in the path of match; if \"" +
                     std::string(segment) + "\" is meant, write its first character as " +
                     (segment[0] == '$' ? "%24" : "%3A")};
    } else {
      if (auto fault = fault_of_literal(segment)) return Problem{*std::move(fault)};
      literal.append("/").append(segment);
    }
  }
  if (!literal.empty()) rewrite.parts_.push_back({.text = std::move(literal)});
  return rewrite;
}

void PathRewrite::append_target(std::string& out, std::string_view path,
                                std::string_view target) const {
  if (!path.starts_with('/')) return void(out.append(target));
  // At first the segments are appended, then moved into the parts: one buffer for both.
  const std::size_t start = out.size();
  append_segments(out, path);
  const std::size_t end = out.size();
  for (const Part& part : parts_) {
    out.append(part.text);
    if (part.copies == Part::Copies::nothing) continue;
    std::string_view rest =
        after_segments(std::string_view(out).substr(start, end - start), part.segment);
    if (part.copies == Part::Copies::segment && !rest.empty()) rest = take_segment(rest);
    const auto at = static_cast<std::size_t>(rest.data() - out.data());
    const std::size_t size = rest.size();
    // append() of a part of the string itself may move it; by position it is safe.
    if (size != 0) out.append(out, at, size);
  }
  if (out.size() == end) out += '/';
  out.erase(start, end - start);
  out.append(target.substr(std::min(path.size(), target.size())));
}

bool has_hidden_dot_segment(std::string_view path) {
  if (path.find_first_of(";%") == std::string_view::npos) return false;
  while (path.starts_with('/')) {
    const std::string_view sent = take_segment(path);
    if (sent == "." || sent == "..") continue;
    std::string segment(sent);
    for (int encodings = 0; encodings < 3; ++encodings, segment = decoded(segment)) {
      if (has_dot_part(segment)) return true;
    }
  }
  return false;
}

}  // namespace weir::routing
