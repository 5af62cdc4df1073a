// Parses a list of addresses and prefixes: one a line, with comments.
//
//   # the crawlers that we know
//   192.0.2.0/24
//   2001:db8::7    # an address alone
//
// A comment begins with "#" and ends with its line. Blank lines, blanks around a prefix, CRLF and a
// byte order mark are accepted. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip_address.hpp"

namespace weir {

inline constexpr std::size_t most_listed_prefixes = 1'000'000;

struct PrefixList {
  struct Problem {
    std::size_t line = 0;  ///< counts from 1
    std::string message;   ///< the defect and the fix; never the text of the line
    friend bool operator==(const Problem&, const Problem&) = default;
  };

  std::vector<IpPrefix> prefixes;  ///< in the order of the lines
  std::vector<Problem> problems;   ///< the first ones
  std::size_t omitted = 0;         ///< problems that are not in `problems`
};

/// Parsing stops at a line with more than most_listed_prefixes prefixes before it.
PrefixList parse_prefix_list(std::string_view text);

}  // namespace weir
