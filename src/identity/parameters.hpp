// Values in a query or a Cookie field. Pure; no allocation.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "http/request_view.hpp"
#include "identity/identity.hpp"

namespace weir::identity {

/// Percent-decodes one byte at a time; '+' is a space. A '%' without two hexadecimal digits stands
/// for itself.
class PercentDecoder {
 public:
  explicit PercentDecoder(std::string_view text) : text_(text) {}
  bool at_end() const { return text_.empty(); }
  char next();

 private:
  std::string_view text_;
};

/// The values that a list of parameters or cookies has under one name.
struct Occurrences {
  std::size_t count = 0;   ///< of exactly that name
  std::string_view first;  ///< value of the first of them; empty without "="
  std::string_view last;   ///< of the last
  bool imitated = false;   ///< another name in it is read as this one by some services
  bool divided = false;    ///< so is the name after, or its value is cut at, another separator
  bool spaced = false;     ///< cookies: that separator is a blank
  bool crowded = false;    ///< more parameters or cookies than some services read
  bool quoted = false;     ///< cookies: quotes begin or end in its value, or enclose it and others
  bool malformed = false;  ///< cookies: a part is empty, or has no name and "="
  bool scattered = false;  ///< cookies: on several Cookie lines
};

/// Finds the parameters whose decoded name is `name`; their values are still encoded.
///
/// Other names that are read as `name`: PHP removes leading blanks, stops at NUL, turns ".", " "
/// and "[" into "_" and makes arrays of "name[]" and "name[x]", as Rack does; Rack 2 and qs of
/// Express read "[name]" as "name"; ASP.NET ignores case. Rack 2 and Perl split a query at ";" too.
/// qs ends a name at the first "]=", so `name` with that in its value is another parameter there.
Occurrences query_parameters(std::string_view query, std::string_view name);

/// Finds the cookies of that name in all Cookie lines; values are without the double quotes around
/// them. Without a cookie of that name, crowded, malformed and scattered are false.
///
/// The names of cookies are read in the same ways, but case counts; old PHP and Rack decode them.
/// Perl splits at "," too. Python splits at blanks, and a value in quotes may contain ";" there.
/// Node.js removes the last character of a value that begins with a quote. Python reads no cookie
/// of a line with a malformed part; PHP and gunicorn join several lines with a comma.
Occurrences cookies(const http::RequestView& request, std::string_view name);

/// The value that counts, or why services may read another one.
struct CountedValue {
  std::string_view text;  ///< empty: absent or ambiguous
  std::optional<Ambiguity::Kind> ambiguity{};
};
CountedValue counted_value(const Occurrences& found, Repeated repeated);

}  // namespace weir::identity
