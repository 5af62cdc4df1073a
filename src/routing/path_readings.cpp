#include "routing/path_readings.hpp"

#include <algorithm>
#include <cstdint>

#include "base/eight_bytes.hpp"
#include "http/characters.hpp"
#include "routing/segments.hpp"

namespace weir::routing {
namespace {

using http::Refusal;

constexpr Refusal encoded_slash{
    400, "the path has an encoded slash (%2F), which services read in two ways"};
constexpr Refusal encoded_backslash{
    400, "the path has an encoded backslash (%5C), which services read in two ways"};
constexpr Refusal encoded_control{400, "the path has an encoded control character"};
constexpr Refusal encoded_dots{
    400, "the path has an encoded dot segment, such as \"%2e%2e\"; write it as \"..\""};
constexpr Refusal double_encoding{400, "the path is percent-encoded twice, such as \"%2561\""};
constexpr Refusal too_many_readings{400, "the path can be read in too many ways"};

/// Characters that may make a path readable in several ways, as bits.
enum Mark : std::uint8_t {
  upper = 1,
  percent = 2,
  semicolon = 4,
  slash = 8,
  dot = 16,
  backslash = 32
};

constexpr std::array<std::uint8_t, 256> marks = [] {
  std::array<std::uint8_t, 256> table{};
  for (char c = 'A'; c <= 'Z'; ++c)
    table[static_cast<unsigned char>(c)] = upper;
  table['%'] = percent;
  table[';'] = semicolon;
  table['/'] = slash;
  table['.'] = dot;
  table['\\'] = backslash;
  return table;
}();

/// The marks of a path: of all its characters, and of those that follow a slash. A plain path may
/// lack marks that make no difference.
struct Shape {
  std::uint8_t all = 0;
  std::uint8_t after_slash = 0;

  bool is_plain() const {
    return (all & (percent | semicolon | backslash)) == 0 && (after_slash & (slash | dot)) == 0;
  }
};

/// Reads eight characters from `at`; the one before must be readable, too.
bool are_plain(const char* at) {
  const std::uint64_t here = eight_bytes(at);
  const std::uint64_t before = eight_bytes(at - 1);
  static_assert(('.' | 1) == '/');
  const std::uint64_t dot_or_slash = (here | in_each_byte(1)) ^ in_each_byte('/');
  return (zeros_in(here ^ in_each_byte('%')) | zeros_in(here ^ in_each_byte(';')) |
          zeros_in(here ^ in_each_byte('\\')) |
          zeros_in(dot_or_slash | (before ^ in_each_byte('/')))) == 0;
}

/// Returns the shape of a plain path that begins with a slash; nothing for other paths and for
/// short ones.
std::optional<Shape> shape_of_plain(std::string_view path) {
  constexpr std::size_t word = 8;
  if (path.size() <= word || path.front() != '/') return std::nullopt;
  std::uint64_t upper_case = 0;
  const char* const last = path.data() + path.size() - word;
  for (const char* at = path.data() + 1;; at = std::min(at + word, last)) {
    if (!are_plain(at)) return std::nullopt;
    const std::uint64_t here = eight_bytes(at);
    upper_case |= here ^ lower_case(here);
    if (at == last) break;
  }
  return Shape{.all = static_cast<std::uint8_t>(upper_case != 0 ? upper : 0)};
}

Shape shape_of(std::string_view path) {
  if (const auto plain = shape_of_plain(path)) return *plain;
  Shape shape;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::uint8_t mark = marks[static_cast<unsigned char>(path[i])];
    if (mark == 0) continue;
    shape.all |= mark;
    if (i > 0 && path[i - 1] == '/') shape.after_slash |= mark;
  }
  return shape;
}

bool has_upper_case(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

constexpr bool is_delimiter(int c) {
  return c == '?' || c == '#' || c == ';';
}

std::size_t end_of_segment(std::string_view path, std::size_t at, bool splits_encoded_slashes) {
  while (at < path.size() && path[at] != '/' &&
         !(splits_encoded_slashes && (path[at] == '\\' || http::escape_at(path.substr(at)) == '/')))
    ++at;
  return at;
}

/// Returns the path without the leading slashes and the first segment: WHATWG URL parsers and PHP's
/// parse_url() read "//host/path" as a host and a path.
std::string_view after_authority(std::string_view path) {
  const auto host = std::min(path.find_first_not_of('/'), path.size());
  const auto end = path.find('/', host);
  return end == std::string_view::npos ? "/" : path.substr(end);
}

/// Returns the path up to its first semicolon, where Fastify 4 begins the query; nothing if this is
/// the same as the path without parameters.
std::optional<std::string_view> before_semicolon(std::string_view path) {
  const std::size_t end = path.find(';');
  if (end == std::string_view::npos) return std::nullopt;
  if (path.find_first_of("/\\%", end) == std::string_view::npos) return std::nullopt;
  return path.substr(0, end);
}

bool holds_escape(std::string_view text) {
  for (auto at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    if (http::escape_at(text.substr(at)) >= 0) return true;
  }
  return false;
}

/// Decodes all escapes. A "%" that begins no escape stays.
void append_all_decoded(std::string& out, std::string_view path) {
  for (std::size_t i = 0; i < path.size(); ++i) {
    const int decoded = http::escape_at(path.substr(i));
    out += decoded < 0 ? path[i] : static_cast<char>(decoded);
    if (decoded >= 0) i += 2;
  }
}

/// The kinds of escapes found in a path.
struct Escapes {
  PathEncodings encodings{};
  bool delimiters = false;
};

/// Classifies the escapes of one segment; `decoded` has room for its decoded form.
std::optional<Refusal> judge_segment(std::string_view segment, Escapes& found,
                                     std::string& decoded) {
  std::size_t escapes = 0;
  for (auto at = segment.find('%'); at != std::string_view::npos; at = segment.find('%', at + 1)) {
    const int c = http::escape_at(segment.substr(at));
    if (c < 0) continue;
    if (c == '\\') return encoded_backslash;
    if (c < 0x20 || c == 0x7f) return encoded_control;
    found.encodings.slashes |= c == '/';
    found.delimiters |= is_delimiter(c);
    ++escapes;
  }
  if (escapes == 0) return std::nullopt;
  decoded.clear();
  append_all_decoded(decoded, segment);
  if (is_dot_segment(decoded)) return encoded_dots;
  found.encodings.doubled |= holds_escape(decoded);
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> PathReadings::read_encoded(std::string_view path,
                                                  const PathEncodings& tolerated) {
  Escapes found;
  for (std::string_view rest = path; !rest.empty();) {
    rest.remove_prefix(1);
    const auto end = std::min(rest.find('/'), rest.size());
    if (const auto refusal = judge_segment(rest.substr(0, end), found, scratch_)) return refusal;
    rest.remove_prefix(end);
  }
  encodings_ = found.encodings;
  has_encoded_delimiters_ = found.delimiters;
  if (encodings_.slashes && !tolerated.slashes) return encoded_slash;
  if (encodings_.doubled && !tolerated.doubled) return double_encoding;
  return std::nullopt;
}

/// Decodes all escapes; those of slashes only if the form splits there. A "%" that begins no escape
/// stays.
void PathReadings::append_decoded(std::string& out, std::string_view path, const Form& form) {
  for (std::size_t i = 0; i < path.size(); ++i) {
    const int decoded = http::escape_at(path.substr(i));
    const int c = decoded < 0 ? static_cast<unsigned char>(path[i]) : decoded;
    const bool is_cut = decoded >= 0 && form.cuts_encoded_delimiters && is_delimiter(c);
    if (is_cut && c != ';') return;
    if (is_cut || (decoded < 0 && c == ';' && form.strips_parameters)) {
      i = end_of_segment(path, i + 1, form.splits_encoded_slashes) - 1;
      continue;
    }
    if (decoded == '/' && !form.splits_encoded_slashes) {
      out += "%2F";
    } else {
      out += c == '\\' && form.splits_encoded_slashes ? '/' : static_cast<char>(c);
    }
    if (decoded >= 0) i += 2;
  }
}

std::string_view PathReadings::text_of(std::string_view path, const Form& form) {
  scratch_.clear();
  append_decoded(scratch_, form.drops_authority ? after_authority(path) : path, form);
  std::string& text = texts_[text_count_];
  text.clear();
  append_segments(text, scratch_,
                  {.empty = form.keeps_repeated_slashes, .dots = form.keeps_dot_segments});
  if (form.merges_last) {
    scratch_.swap(text);
    text.clear();
    append_segments(text, scratch_, {.dots = true});
  }
  return text;
}

/// Adds the readings of one text; returns false if there are too many.
bool PathReadings::add_text(std::string_view text, bool has_upper_case,
                            const ReadingOptions& options) {
  const bool folds =
      options.variants.letter_case && (has_upper_case || options.has_upper_case_patterns);
  const bool strips = options.variants.trailing_slash && (options.has_trailing_slash_patterns ||
                                                          (text.size() > 1 && text.back() == '/'));
  const std::size_t count = (folds ? 2U : 1U) * (strips ? 2U : 1U);
  if (readings_.size() + count > limit) return false;
  PathReading reading{.text = text};
  readings_.push_back(reading);
  if (folds) {
    reading.ignores_case = true;
    readings_.push_back(reading);
  }
  if (strips) {
    reading.ignores_trailing_slash = true;
    readings_.push_back(reading);
    reading.ignores_case = false;
    if (folds) readings_.push_back(reading);
  }
  return true;
}

std::optional<Refusal> PathReadings::read(std::string_view path, const ReadingOptions& options) {
  readings_.clear();
  encodings_ = {};
  has_encoded_delimiters_ = false;
  const Shape shape = shape_of(path);
  if (shape.is_plain() || !path.starts_with('/')) {
    add_text(path, (shape.all & upper) != 0, options);
    return std::nullopt;
  }
  if ((shape.all & percent) != 0) {
    if (const auto refusal = read_encoded(path, options.tolerated)) return refusal;
  }
  const PathVariants& variants = options.variants;
  const bool splits = encodings_.slashes || (shape.all & backslash) != 0;
  // A segment that has only parameters leaves an empty segment.
  const bool repeats = splits || (shape.after_slash & (slash | semicolon)) != 0;
  const bool dots = splits || (shape.after_slash & dot) != 0;
  Form possible{.splits_encoded_slashes = splits,
                .strips_parameters = variants.parameters && (shape.all & semicolon) != 0,
                .cuts_encoded_delimiters = variants.encoded_delimiters && has_encoded_delimiters_,
                .drops_authority = variants.repeated_slashes && path.starts_with("//"),
                .keeps_repeated_slashes = variants.repeated_slashes && repeats,
                .keeps_dot_segments = variants.dot_segments && dots,
                .merges_last = variants.repeated_slashes && repeats && dots};
  text_count_ = 0;
  if (const auto refusal = add_forms(path, possible, options)) return refusal;
  if (!possible.strips_parameters) return std::nullopt;
  possible.strips_parameters = false;
  const auto cut = before_semicolon(path);
  return cut ? add_forms(*cut, possible, options) : std::nullopt;
}

bool PathReadings::is_within(const Form& form, const Form& possible) {
  return (possible.splits_encoded_slashes || !form.splits_encoded_slashes) &&
         (possible.strips_parameters || !form.strips_parameters) &&
         (possible.cuts_encoded_delimiters || !form.cuts_encoded_delimiters) &&
         (possible.drops_authority || !form.drops_authority) &&
         (possible.keeps_repeated_slashes || !form.keeps_repeated_slashes) &&
         (possible.keeps_dot_segments || !form.keeps_dot_segments) &&
         (possible.merges_last || !form.merges_last);
}

/// Adds the texts of all combinations of the differences in `possible` that are not known yet, the
/// normal form first.
std::optional<Refusal> PathReadings::add_forms(std::string_view path, const Form& possible,
                                               const ReadingOptions& options) {
  for (unsigned bits = 0; bits < 128; ++bits) {
    const Form form{.splits_encoded_slashes = (bits & 1U) != 0,
                    .strips_parameters = (bits & 2U) != 0,
                    .cuts_encoded_delimiters = (bits & 4U) != 0,
                    .drops_authority = (bits & 8U) != 0,
                    .keeps_repeated_slashes = (bits & 16U) != 0,
                    .keeps_dot_segments = (bits & 32U) != 0,
                    .merges_last = (bits & 80U) == 80U};
    if (!is_within(form, possible)) continue;
    const std::string_view text = text_of(path, form);
    const auto known = std::span(texts_).first(text_count_);
    if (std::find(known.begin(), known.end(), text) != known.end()) continue;
    if (++text_count_ == texts_.size()) return too_many_readings;
    if (!add_text(text, has_upper_case(text), options)) return too_many_readings;
  }
  return std::nullopt;
}

}  // namespace weir::routing
