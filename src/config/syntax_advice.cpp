#include "config/syntax_advice.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "http/characters.hpp"

namespace weir::config {
namespace {

constexpr auto npos = std::string_view::npos;

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

/// The lines up to and with `count`.
std::vector<std::string_view> first_lines(std::string_view text, int count) {
  std::vector<std::string_view> lines;
  while (static_cast<int>(lines.size()) < count) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

bool has_colon(std::string_view line) {
  return line.ends_with(':') || line.find(": ") != npos;
}

/// Walks over the text and keeps the brackets that are open. Quotes and comments are skipped.
class BracketScan {
 public:
  explicit BracketScan(std::string_view text) : text_(text) {}

  std::optional<SyntaxFault> run() {
    for (; at_ < text_.size(); step()) {
      const char c = text_[at_];
      if (c == '#' && (at_ == 0 || is_blank(text_[at_ - 1]))) {
        skip_line();
      } else if ((c == '"' || c == '\'') && starts_value()) {
        skip_quoted(c);
      } else if (c == '{' || c == '[') {
        if (!open_.empty() || starts_value()) open_.push_back({c, {line_, column_}});
      } else if ((c == '}' || c == ']') && in_flow(c)) {
        if (auto fault = close(c)) return fault;
      }
    }
    return open_.empty() ? std::nullopt : std::optional(unclosed(open_.back()));
  }

 private:
  struct Open {
    char bracket;
    Position position;
  };

  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  static SyntaxFault unclosed(const Open& one) {
    const char partner = one.bracket == '{' ? '}' : ']';
    return {one.position, std::string("this ") + one.bracket + " is not closed; add its " +
                              partner + ", and put quotes around text that holds brackets"};
  }

  bool in_flow(char closing) {
    if (!open_.empty()) return true;
    // After a value in brackets has ended, a closing bracket is one too many.
    return is_after_flow_ && closing != '\0';
  }
  std::optional<SyntaxFault> close(char c) {
    const char partner = c == '}' ? '{' : '[';
    if (open_.empty())
      return SyntaxFault{{line_, column_}, std::string("this ") + c + " closes nothing; remove it"};
    if (open_.back().bracket != partner) return unclosed(open_.back());
    open_.pop_back();
    is_after_flow_ = open_.empty();
    return std::nullopt;
  }
  /// True at the start of a value: after ":", "-" or a comma of a list in brackets.
  bool starts_value() const {
    std::size_t before = at_;
    while (before > 0 && (text_[before - 1] == ' ' || text_[before - 1] == '\t'))
      --before;
    if (before == 0 || text_[before - 1] == '\n') return true;
    const char last = text_[before - 1];
    if (last == ':' || last == '-') return before != at_;
    return last == ',' || last == '[' || last == '{';
  }
  void step() {
    if (at_ >= text_.size()) return;
    if (text_[at_] == '\n') {
      ++line_;
      column_ = 0;
      is_after_flow_ = false;
    }
    ++at_;
    ++column_;
  }
  void skip_line() {
    while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n')
      step();
  }
  void skip_quoted(char quote) {
    step();
    while (at_ < text_.size() && text_[at_] != quote) {
      if (quote == '"' && text_[at_] == '\\') step();
      step();
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
  bool is_after_flow_ = false;
  std::vector<Open> open_;
};

Position start_of(std::string_view line, std::size_t index) {
  const std::size_t first = std::min(line.find_first_not_of(" \t"), line.size());
  return {static_cast<int>(index) + 1, static_cast<int>(first) + 1};
}

/// Explains a line before the one reported that is no `key: value`.
SyntaxFault explain_line_without_colon(std::string_view line, Position position) {
  if (line.starts_with("//")) return {position, "a comment begins with #, not with //"};
  if (line.find('=') != npos) return {position, "write a colon: KEY: VALUE, not KEY = VALUE"};
  if (line.find(':') != npos) return {position, "write a space after the colon: KEY: VALUE"};
  return {position, "a colon is missing after the key on this line"};
}

}  // namespace

std::optional<SyntaxFault> find_lone_bracket(std::string_view text) {
  return BracketScan(text).run();
}

SyntaxFault explain_colon(std::string_view text, Position position) {
  const auto lines = first_lines(text, position.line);
  const std::string_view line = lines.empty() ? "" : lines.back();
  const std::string_view content = without_blanks(line);
  const std::size_t colon = content.find(": ");
  const std::string_view value = colon == npos ? "" : without_blanks(content.substr(colon + 2));
  const bool is_delimited = value.find_first_of("{['\"") == 0;
  if (!is_delimited && has_colon(value))
    return {position, "a value that holds a colon and a space must be quoted"};
  for (std::size_t i = lines.size(); i-- > 1;) {
    const std::string_view before = without_blanks(lines[i - 1]);
    if (before.empty() || before.starts_with('#')) continue;
    if (!has_colon(before))
      return explain_line_without_colon(before, start_of(lines[i - 1], i - 1));
    break;
  }
  return {position, "keys of one level are indented alike; or quote a value that holds a colon"};
}

std::optional<SyntaxFault> find_look_alike(std::string_view text, int line) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> look_alikes{{
      {"\xe2\x80\x93", "a long dash; type - instead"},
      {"\xe2\x80\x94", "a long dash; type - instead"},
      {"\xc2\xa0", "a blank that is not a space (U+00A0); type spaces instead"},
      {"\xe2\x80\x8b", "an invisible character (U+200B); remove it"},
      {"\xe3\x80\x80", "a blank that is not a space (U+3000); type spaces instead"},
      {"\xef\xbb\xbf", "an invisible character (U+FEFF); remove it"},
  }};
  const auto lines = first_lines(text, line);
  if (static_cast<int>(lines.size()) < line || line < 1) return std::nullopt;
  const std::string_view shown = lines.back();
  const std::size_t first = std::min(shown.find_first_not_of(" \t"), shown.size());
  for (const auto& [character, what] : look_alikes) {
    if (shown.substr(first).starts_with(character))
      return SyntaxFault{{line, static_cast<int>(first) + 1},
                         "the line begins with " + std::string(what)};
  }
  return std::nullopt;
}

}  // namespace weir::config
