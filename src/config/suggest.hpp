// Suggests the known name closest to the written one: "did you mean ...?".
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace weir::config {

/// Returns the number of single-character insertions, deletions, replacements and swaps of
/// neighbours that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the nearest candidate if it is near enough (within a third of the length, at least one
/// edit); else an empty text.
std::string_view closest(std::string_view written, std::span<const std::string_view> known);

/// Returns `; did you mean "burst"?`, or `; known here: burst, rate` if no name is near and the
/// list is short, or an empty text.
std::string hint(std::string_view written, std::span<const std::string_view> known);

/// Returns `burst, rate`.
std::string list_of(std::span<const std::string_view> names);

/// Replaces each `old_text` in quotes in the message by `new_text` in quotes.
void replace_quoted(std::string& message, const std::string& old_text, std::string_view new_text);

/// Returns the text in quotes, safe to print on one line of a terminal or log: control characters
/// become `?`, and text beyond 60 bytes is cut.
std::string in_quotes(std::string_view text);

}  // namespace weir::config
