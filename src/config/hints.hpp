// Hints for mistakes that newcomers make often: what to write instead. Each is the text to append
// to a message, such as `; did you mean "10/s"?`, or an empty text. The shapes of keys of another
// kind of file than a configuration begin with the kind: `test:steps[]`.
//
// `written` is the text in the file, before variables are replaced, so hints may show it. Keys are
// named by their shape: the path with [] for every index and * for every name that the operator
// chose. Pure; thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace weir::config {

/// Returns the letters, digits and _ at the start of the text.
std::string_view leading_word(std::string_view text);

/// `; did you mean "TEXT"?`, or nothing if `text` is empty.
std::string did_you_mean(std::string_view text);

/// For a key that the map with this shape does not have: another program's name of a setting, or a
/// key of another section.
std::string key_hint(std::string_view map_shape, std::string_view key);
/// The place that has all keys of a kind of file.
std::string all_keys_hint(std::string_view kind);
/// Returns a value for the key with this shape, such as `{certificate: tls.crt, private_key:
/// tls.key}`; empty if the table has none. Not a hint: the caller writes the text around it.
std::string_view example_of(std::string_view shape);

/// For a word of a fixed list: another spelling (GCRA, token-bucket), or another program's word
/// (dry_run for shadow).
std::string word_hint(std::string_view written, std::span<const std::string_view> known);
/// For a reference to a `what` (policy, upstream, identity ...) without a similar name: where to
/// define one.
std::string definition_hint(std::string_view what, std::string_view written, bool none_is_defined);
/// For `rate:10/s` and `rate=10/s`, which lack the colon and the space after the key.
std::string colon_hint(std::string_view written);
/// For $NAME, as a shell writes a variable of the environment, in any value.
std::string variable_hint(std::string_view written);
/// True if all of the text is such a variable.
bool is_shell_variable(std::string_view written);

/// For an address or a prefix: the prefix without host bits.
std::string prefix_hint(std::string_view written);
/// For the address of a listener: a port without a host.
std::string endpoint_hint(std::string_view written);
/// For 10/sec, 10r/s, "10 per second" and 1000/month.
std::string rate_hint(std::string_view written);
/// For 30 and "30 seconds".
std::string duration_hint(std::string_view written);
/// The same for a setting up to `most`: a number alone has the largest unit with which it fits.
/// Empty if no unit fits.
std::string duration_hint(std::string_view written, Duration most);
/// For 10MB and 10m.
std::string size_hint(std::string_view written);

// Values that are valid and probably mean something else: patterns where a text is compared, and
// variables of other programs in a text that is sent as it is.

bool looks_like_regex(std::string_view text);

/// Return a warning about the path pattern, or about the header value that a route compares; empty
/// if there is no doubt.
std::string pattern_doubt(std::string_view written);
std::string header_value_doubt(std::string_view written);

/// Returns the first variable of nginx (`$host`) or Envoy (`%REQ(x)%`), or `{name}`; empty if there
/// is none. `${NAME}` is a variable of the environment.
std::string_view foreign_variable_in(std::string_view written);

}  // namespace weir::config
