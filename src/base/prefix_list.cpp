#include "base/prefix_list.hpp"

#include "base/text.hpp"

namespace weir {
namespace {

constexpr std::size_t most_problems = 10;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

/// The line without its comment and the blanks around the rest.
std::string_view content_of(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  line = line.substr(0, line.find('#'));
  const std::size_t first = line.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(blanks) + 1 - first);
}

void add_problem(PrefixList& to, std::size_t line, std::string_view message) {
  if (to.problems.size() < most_problems) {
    to.problems.push_back({.line = line, .message = std::string(message)});
  } else {
    ++to.omitted;
  }
}

}  // namespace

PrefixList parse_prefix_list(std::string_view text) {
  PrefixList list;
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view content = content_of(take_until(text, '\n'));
    if (content.empty()) continue;
    if (list.prefixes.size() == most_listed_prefixes) {
      add_problem(list, number,
                  "more than " + std::to_string(most_listed_prefixes) +
                      " addresses; combine them into prefixes");
      break;
    }
    if (const auto prefix = IpPrefix::parse(content)) {
      list.prefixes.push_back(*prefix);
    } else {
      add_problem(list, number,
                  "expected an address or a prefix whose host bits are zero, such as 10.0.0.0/8 or "
                  "2001:db8::/32");
    }
  }
  return list;
}

}  // namespace weir
