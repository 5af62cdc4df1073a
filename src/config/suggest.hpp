// "Did you mean ...?": the known name closest to what was written.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace weir::config {

/// Single-character insertions, deletions, replacements and swaps of neighbours that turn `a` into
/// `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The nearest candidate, if it is near enough to be meant (a third of the length, at least one
/// edit); else empty.
std::string_view closest(std::string_view written, std::span<const std::string_view> known);

/// `; did you mean "burst"?`, or `; known here: burst, rate` when nothing is near and the list is
/// short, or nothing.
std::string hint(std::string_view written, std::span<const std::string_view> known);

/// Text safe to print on one line of a terminal or log: control characters become `?`, the rest is
/// cut after 60 bytes; in quotes.
std::string in_quotes(std::string_view text);

}  // namespace weir::config
