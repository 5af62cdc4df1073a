#include "config/document.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "config/brace_mask.hpp"
#include "config/document_text.hpp"
#include "config/syntax_advice.hpp"
#include "config/tree_builder.hpp"

namespace weir::config {

namespace {

Diagnostic diagnostic_at(Position position, std::string message) {
  return {.line = position.line,
          .column = position.column,
          .key_path = {},
          .message = std::move(message)};
}

/// Lines count from 1.
bool is_indented_with_tabs(std::string_view text, std::size_t line) {
  for (; line > 1; --line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find_first_not_of(" \t")).find('\t') != std::string_view::npos;
}

/// Returns the most frequent cause of a message of yaml-cpp about this line.
std::string_view advice_for(std::string_view message, bool has_tabs) {
  using namespace YAML::ErrorMsg;
  if (message == UNKNOWN_ANCHOR) return "a value that begins with * must be quoted";
  if (message == END_OF_MAP_FLOW || message == END_OF_SEQ_FLOW)
    return "between braces or brackets, text that holds {}[], itself must be quoted";
  if (has_tabs) return "indent with spaces, not with tabs";
  if (message == UNKNOWN_TOKEN) return "a value that begins with `, @ or % must be quoted";
  if (message == END_OF_MAP) return "keys of one level are indented alike";
  if (message == END_OF_SEQ || message == BLOCK_ENTRY)
    return "entries of one level are indented alike";
  if (message == MAP_KEY)
    return "a colon is missing on the line before, or the indentation is wrong";
  return "put quotes around text with characters such as : { } [ ] , & * # ? | > @ ` % !";
}

/// The mistake that most probably made the parser end at `position`, if it can be found in the
/// text.
std::optional<SyntaxFault> find_fault(std::string_view message, std::string_view text,
                                      Position position) {
  using namespace YAML::ErrorMsg;
  for (const int line : {position.line, position.line - 1}) {
    if (auto found = find_look_alike(text, line)) return found;
  }
  if (is_indented_with_tabs(text, position.line)) return std::nullopt;
  if (message == END_OF_MAP_FLOW || message == END_OF_SEQ_FLOW || message == FLOW_END)
    return find_lone_bracket(text);
  if (message == MAP_VALUE) return explain_colon(text, position);
  return std::nullopt;
}

// Only the fixed part of yaml-cpp's message: the rest may be text of the file.
Diagnostic syntax_error(const YAML::Exception& error, std::string_view text) {
  const Position position = error.mark.is_null() ? Position{} : position_of(error.mark);
  std::string message = error.msg.substr(0, error.msg.find(": "));
  if (const auto fault = find_fault(message, text, position))
    return diagnostic_at(fault->position, "not valid YAML: " + fault->message);
  const std::string_view advice = advice_for(message, is_indented_with_tabs(text, position.line));
  message.append(" (").append(advice).append(")");
  return diagnostic_at(position, "not valid YAML: " + message);
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
  return diagnostic_at(position,
                       "not valid YAML: quoted text has no end: its closing quote is missing, or "
                       "one in it is not escaped");
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
    problems.push_back(unclosed_quote(builder.last_scalar()));
    return std::nullopt;
  } catch (const BoundExceeded& error) {
    problems.push_back(diagnostic_at(position_of(error.mark), error.msg));
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    problems.push_back(ends_within_quotes(masked, limits) ? unclosed_quote(builder.last_scalar())
                                                          : syntax_error(error, masked));
    return std::nullopt;
  }
}

}  // namespace weir::config
