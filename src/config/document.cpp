#include "config/document.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "config/tree_builder.hpp"

namespace weir::config {

namespace {

/// Returns the offset of a line, which counts from 1.
std::size_t start_of_line(std::string_view text, int line) {
  std::size_t start = 0;
  for (; line > 1 && start < text.size(); --line)
    start = std::min(text.find('\n', start), text.size() - 1) + 1;
  return start;
}

/// Returns the line that begins at `start`, without its end.
std::string_view line_at(std::string_view text, std::size_t start) {
  return text.substr(start, text.find_first_of("\r\n", start) - start);
}

bool is_indented_with_tabs(std::string_view line) {
  return line.substr(0, line.find_first_not_of(" \t")).find('\t') != std::string_view::npos;
}

bool has_colon(std::string_view line) {
  return line.ends_with(':') || line.find(": ") != std::string_view::npos;
}

/// Returns the most frequent cause of a message of yaml-cpp.
std::string_view advice_for(std::string_view message) {
  using namespace YAML::ErrorMsg;
  if (message == UNKNOWN_ANCHOR) return "a value that begins with * must be quoted";
  if (message == UNKNOWN_TOKEN) return "a value that begins with `, @ or % must be quoted";
  if (message == FLOW_END) return "a bracket closes nothing, or not the last one that is open";
  if (message == END_OF_MAP || message == MAP_KEY) return "keys of one level are indented alike";
  if (message == END_OF_SEQ || message == BLOCK_ENTRY)
    return "entries of one level are indented alike";
  return "put quotes around text with characters such as : { } [ ] , & * # ? | > @ ` % !";
}

/// Explains a colon where none can be: it belongs to the value, or the line before has none.
Diagnostic explain_colon(std::string_view text, Position position) {
  std::size_t start = start_of_line(text, position.line);
  const std::string_view line = line_at(text, start);
  const std::size_t value_start = line.find_first_not_of(' ', line.find(": ") + 1);
  const std::string_view value = line.substr(std::min(value_start, line.size()));
  if (value.find_first_of("{['\"") != 0 && has_colon(value))
    return diagnostic_at(position, "a value that holds a colon and a space must be quoted");
  for (int number = position.line - 1; number > 0 && start > 1; --number) {
    start = text.rfind('\n', start - 2) + 1;
    const std::string_view before = line_at(text, start);
    const std::size_t first = before.find_first_not_of(" \t");
    if (first == std::string_view::npos || before[first] == '#') continue;
    if (has_colon(before)) break;
    return diagnostic_at({.line = number, .column = static_cast<int>(first) + 1},
                         "write KEY: VALUE, with a colon and a space after it");
  }
  return diagnostic_at(position,
                       "keys of one level are indented alike; or quote a value that holds a colon");
}

/// Explains where the parser ends. Only the fixed part of its message is shown: the rest may be
/// text of the file.
Diagnostic syntax_error(const YAML::Exception& error, std::string_view text,
                        const TreeBuilder& builder) {
  const Position position = error.mark.is_null() ? Position{} : position_of(error.mark);
  const std::string message = error.msg.substr(0, error.msg.find(": "));
  if (is_indented_with_tabs(line_at(text, start_of_line(text, position.line))))
    return diagnostic_at(position, message + " (indent with spaces, not with tabs)");
  if (message == YAML::ErrorMsg::MAP_VALUE) return explain_colon(text, position);
  if (message == YAML::ErrorMsg::END_OF_MAP_FLOW || message == YAML::ErrorMsg::END_OF_SEQ_FLOW)
    return diagnostic_at(builder.open_position().value_or(position),
                         "this bracket is not closed; put quotes around text with brackets");
  return diagnostic_at(position, message + " (" + std::string(advice_for(message)) + ")");
}

Diagnostic not_valid(Diagnostic why) {
  why.message.insert(0, "not valid YAML: ");
  return why;
}

/// Finds quoted text without an end: yaml-cpp reads the end of the file after a line break as the
/// closing quote. It does not read the end mark of a document as text.
bool ends_within_quotes(const std::string& text, const DocumentLimits& limits) {
  std::istringstream stream(text + "\n...\n");
  std::vector<Diagnostic> known;
  TreeBuilder builder(limits, known);
  try {
    YAML::Parser parser(stream);
    // Bounded by the size that is read of the file.
    if (parser.HandleNextDocument(builder)) parser.HandleNextDocument(builder);
    return false;
  } catch (const YAML::Exception& error) {
    return error.msg == YAML::ErrorMsg::DOC_IN_SCALAR;
  }
}

Diagnostic unclosed_quote(Position position) {
  return diagnostic_at(
      position,
      "quoted text has no end: its closing quote is missing, or one in it is not escaped");
}

}  // namespace

const Entry* Node::find(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

std::optional<Node> parse_document(std::string_view yaml, std::vector<Diagnostic>& problems,
                                   const DocumentLimits& limits) {
  if (yaml.size() > limits.bytes) {
    problems.push_back(diagnostic_at({}, "larger than " + std::to_string(limits.bytes) + " bytes"));
    return std::nullopt;
  }
  if (std::optional<Diagnostic> bad = find_bad_byte(yaml)) {
    problems.push_back(*std::move(bad));
    return std::nullopt;
  }
  const std::string masked = mask_braces(yaml);
  std::istringstream stream(masked);
  TreeBuilder builder(limits, problems);
  try {
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    std::optional<Node> root = builder.take_root();
    if (root && parser.HandleNextDocument(builder)) {
      problems.push_back(
          diagnostic_at(builder.take_root().value_or(Node{}).position,
                        "a second document (---) in the file; one is read: remove this line"));
    }
    if (!ends_within_quotes(masked, limits)) return root;
    problems.push_back(not_valid(unclosed_quote(builder.last_scalar())));
    return std::nullopt;
  } catch (const BoundExceeded& error) {
    problems.push_back(diagnostic_at(position_of(error.mark), error.msg));
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    problems.push_back(not_valid(ends_within_quotes(masked, limits)
                                     ? unclosed_quote(builder.last_scalar())
                                     : syntax_error(error, masked, builder)));
    return std::nullopt;
  }
}

}  // namespace weir::config
