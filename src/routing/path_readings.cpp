#include "routing/path_readings.hpp"

#include <algorithm>
#include <cstdint>

#include "http/characters.hpp"

namespace weir::routing {
namespace {

using http::Refusal;

constexpr Refusal encoded_slash{
    400, "the path holds an encoded slash (%2F), which services read in two ways"};
constexpr Refusal encoded_backslash{
    400, "the path holds an encoded backslash (%5C), which services read in two ways"};
constexpr Refusal encoded_control{400, "the path holds an encoded control character"};
constexpr Refusal encoded_dots{
    400, "the path holds an encoded dot segment, such as \"%2e%2e\"; write it as \"..\""};
constexpr Refusal double_encoding{400, "the path is percent-encoded twice, such as \"%2561\""};
constexpr Refusal too_many_readings{400, "the path can be read in too many ways"};

/// Characters that may make a path readable in several ways, as bits.
enum Mark : std::uint8_t { upper = 1, percent = 2, semicolon = 4, slash = 8, dot = 16 };

constexpr std::array<std::uint8_t, 256> marks = [] {
  std::array<std::uint8_t, 256> table{};
  for (char c = 'A'; c <= 'Z'; ++c)
    table[static_cast<unsigned char>(c)] = upper;
  table['%'] = percent;
  table[';'] = semicolon;
  table['/'] = slash;
  table['.'] = dot;
  return table;
}();

/// The marks of a path: of all its characters, and of those that follow a slash.
struct Shape {
  std::uint8_t all = 0;
  std::uint8_t after_slash = 0;

  bool is_plain() const {
    return (all & (percent | semicolon)) == 0 && (after_slash & (slash | dot)) == 0;
  }
};

Shape shape_of(std::string_view path) {
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

/// The character that an escape at the start of `text` stands for; -1 if there is none.
int escape_at(std::string_view text) {
  if (text.size() < 3 || text[0] != '%') return -1;
  const int high = http::hex_value(text[1]);
  const int low = http::hex_value(text[2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/// Decodes all escapes, those of slashes only if `splits`; a "%" that begins no escape stays.
void append_decoded(std::string& out, std::string_view path, bool splits, bool strips_parameters) {
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (strips_parameters && path[i] == ';') {
      i = std::min(path.find('/', i), path.size()) - 1;
      continue;
    }
    const int decoded = escape_at(path.substr(i));
    if (decoded < 0) {
      out += path[i];
      continue;
    }
    decoded == '/' && !splits ? void(out += "%2F") : void(out += static_cast<char>(decoded));
    i += 2;
  }
}

/// RFC 3986 section 5.2.4 unless dot segments are kept; empty segments are passed over unless they
/// are kept.
void append_segments(std::string& out, std::string_view path, bool keeps_empty, bool keeps_dots) {
  const std::size_t start = out.size();
  bool ends_in_slash = true;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::size_t end = path.find('/');
    const std::string_view segment = path.substr(0, end);
    path = end == std::string_view::npos ? std::string_view{} : path.substr(end);
    const bool is_dot = !keeps_dots && segment == ".";
    const bool is_parent = !keeps_dots && segment == "..";
    ends_in_slash = segment.empty() || is_dot || is_parent;
    if (is_parent) out.resize(out.size() > start ? out.rfind('/') : start);
    const bool is_kept = !segment.empty() || (keeps_empty && !path.empty());
    if (is_kept && !is_dot && !is_parent) out.append("/").append(segment);
  }
  if (ends_in_slash) out += '/';
}

/// Decoded, the segment is "." or "..", with or without parameters.
bool is_dot_segment(std::string_view decoded) {
  const auto name = decoded.substr(0, decoded.find(';'));
  return name == "." || name == "..";
}

bool holds_escape(std::string_view text) {
  for (auto at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    if (escape_at(text.substr(at)) >= 0) return true;
  }
  return false;
}

/// Judges the escapes of one segment; `decoded` is room for its decoded form.
std::optional<Refusal> judge_segment(std::string_view segment, PathEncodings& encodings,
                                     std::string& decoded) {
  std::size_t escapes = 0;
  for (auto at = segment.find('%'); at != std::string_view::npos; at = segment.find('%', at + 1)) {
    const int c = escape_at(segment.substr(at));
    if (c < 0) continue;
    if (c == '\\') return encoded_backslash;
    if (c < 0x20 || c == 0x7f) return encoded_control;
    encodings.slashes |= c == '/';
    ++escapes;
  }
  if (escapes == 0) return std::nullopt;
  decoded.clear();
  append_decoded(decoded, segment, true, false);
  if (is_dot_segment(decoded)) return encoded_dots;
  encodings.doubled |= holds_escape(decoded);
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> PathReadings::read_encoded(std::string_view path,
                                                  const PathEncodings& tolerated) {
  for (std::string_view rest = path; !rest.empty();) {
    rest.remove_prefix(1);
    const auto end = std::min(rest.find('/'), rest.size());
    if (const auto refusal = judge_segment(rest.substr(0, end), encodings_, scratch_))
      return refusal;
    rest.remove_prefix(end);
  }
  if (encodings_.slashes && !tolerated.slashes) return encoded_slash;
  if (encodings_.doubled && !tolerated.doubled) return double_encoding;
  return std::nullopt;
}

std::string_view PathReadings::text_of(std::string_view path, const Form& form) {
  scratch_.clear();
  append_decoded(scratch_, path, form.splits_encoded_slashes, form.strips_parameters);
  std::string& text = texts_[text_count_];
  text.clear();
  append_segments(text, scratch_, form.keeps_repeated_slashes, form.keeps_dot_segments);
  return text;
}

/// Adds the readings of one text; false if there are too many.
bool PathReadings::add_text(std::string_view text, bool has_upper_case, const Form& form,
                            const ReadingNeeds& needs) {
  const bool folds =
      needs.variants.letter_case && (has_upper_case || needs.has_upper_case_patterns);
  const bool strips = needs.variants.trailing_slash && (needs.has_trailing_slash_patterns ||
                                                        (text.size() > 1 && text.back() == '/'));
  const std::size_t count = (folds ? 2U : 1U) * (strips ? 2U : 1U);
  if (readings_.size() + count > limit) return false;
  PathReading reading{.text = text,
                      .is_resolved = !form.keeps_repeated_slashes && !form.keeps_dot_segments};
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

std::optional<Refusal> PathReadings::read(std::string_view path, const ReadingNeeds& needs) {
  readings_.clear();
  encodings_ = {};
  const Shape shape = shape_of(path);
  if (shape.is_plain() || !path.starts_with('/')) {
    add_text(path, (shape.all & upper) != 0, {}, needs);
    return std::nullopt;
  }
  if ((shape.all & percent) != 0) {
    if (const auto refusal = read_encoded(path, needs.tolerated)) return refusal;
  }
  const bool splits = encodings_.slashes;
  // Parameters without a name leave an empty segment.
  const bool repeats = splits || (shape.after_slash & (slash | semicolon)) != 0;
  const bool dots = splits || (shape.after_slash & dot) != 0;
  return add_forms(path,
                   {.splits_encoded_slashes = splits,
                    .strips_parameters = needs.variants.parameters && (shape.all & semicolon) != 0,
                    .keeps_repeated_slashes = needs.variants.repeated_slashes && repeats,
                    .keeps_dot_segments = needs.variants.dot_segments && dots},
                   needs);
}

/// Adds the texts of all combinations of what `possible` has, each once, the normal form first.
std::optional<Refusal> PathReadings::add_forms(std::string_view path, const Form& possible,
                                               const ReadingNeeds& needs) {
  text_count_ = 0;
  for (unsigned bits = 0; bits < 16; ++bits) {
    const Form form{.splits_encoded_slashes = (bits & 1U) != 0,
                    .strips_parameters = (bits & 2U) != 0,
                    .keeps_repeated_slashes = (bits & 4U) != 0,
                    .keeps_dot_segments = (bits & 8U) != 0};
    if ((form.splits_encoded_slashes && !possible.splits_encoded_slashes) ||
        (form.strips_parameters && !possible.strips_parameters) ||
        (form.keeps_repeated_slashes && !possible.keeps_repeated_slashes) ||
        (form.keeps_dot_segments && !possible.keeps_dot_segments))
      continue;
    if (text_count_ == limit) return too_many_readings;
    const std::string_view text = text_of(path, form);
    const auto known = std::span(texts_).first(text_count_);
    if (std::find(known.begin(), known.end(), text) != known.end()) continue;
    ++text_count_;
    if (!add_text(text, has_upper_case(text), form, needs)) return too_many_readings;
  }
  return std::nullopt;
}

}  // namespace weir::routing
