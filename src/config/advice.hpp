// Hints for mistakes that newcomers make: what to write instead of an address, a pattern, a word or
// a reference that is not valid. Each returns the text to append to a message, such as
// `; did you mean "10.0.0.0/8"?`, or an empty text.
//
// `written` is the text in the file, before variables are replaced: hints may show it. Pure;
// thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace weir::config {

/// `; did you mean "TEXT"?`, or nothing if `text` is empty.
std::string did_you_mean(std::string_view text);

/// True for $NAME, as a shell writes a variable of the environment.
bool is_shell_variable(std::string_view written);
/// For any value: $NAME of a shell, also within a URL, curly quotes, a comment without its blank.
std::string value_advice(std::string_view written);
/// For a word of a fixed list, also in another spelling (GCRA, token-bucket) or by another name
/// (dry_run for shadow).
std::string word_advice(std::string_view written, std::span<const std::string_view> known);
/// For true and false: yes, on, 1.
std::string flag_advice(std::string_view written);
/// For an address or a prefix: host bits, a netmask, a star, a range, a name.
std::string prefix_advice(std::string_view written);
/// For the address of a listener: a port alone, a URL, a star.
std::string endpoint_advice(std::string_view written);
/// For a host: a URL, or a port.
std::string host_advice(std::string_view written);
/// For a path pattern: a regular expression, a query, a URL, a star within a segment.
std::string pattern_advice(std::string_view written);
/// For a valid pattern that probably means something else: /users/:id, /users/[0-9]+.
std::string pattern_doubt(std::string_view written);
/// For the value of a header in a match that looks like a pattern: values are compared as a whole.
std::string header_value_doubt(std::string_view written);
/// For a reference to `what` (policy, upstream, identity ...) that does not exist: how to define
/// it.
std::string reference_advice(std::string_view what, std::string_view written, bool none_is_defined);
/// For a value that should be a map or a list: a space that is missing after a colon.
std::string colon_advice(std::string_view written);

}  // namespace weir::config
