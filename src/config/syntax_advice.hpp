// Explains text that is not YAML: where the mistake probably is, and how to fix it. The parser
// reports the place where it cannot go on, often a line later. Pure; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/document.hpp"

namespace weir::config {

/// A mistake, its position and its fix. The message shows no value of the file.
struct SyntaxFault {
  Position position;
  std::string message;
};

/// Finds the bracket without its partner: one that is not closed, one that is closed by another, or
/// one that was not opened.
std::optional<SyntaxFault> find_lone_bracket(std::string_view text);

/// Explains why the line at `position` has a ":" where none can be.
SyntaxFault explain_colon(std::string_view text, Position position);

/// A character at the start of the line that looks like one of YAML and is none, such as a long
/// dash or a blank that is not a space.
std::optional<SyntaxFault> find_look_alike(std::string_view text, int line);

}  // namespace weir::config
