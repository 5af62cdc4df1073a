#include "config/address_file.hpp"

#include <utility>

#include "base/prefix_list.hpp"
#include "config/suggest.hpp"

namespace weir::config {
namespace {

constexpr std::size_t largest_file = 64 * 1024 * 1024;

}  // namespace

AddressFile read_address_file(const std::string& path, const std::string& shown,
                              Patience patience) {
  const Result<std::string> text = read_bounded_file(path, largest_file, patience);
  if (!text) {
    return {.prefixes = {},
            .problems = {with_shown_path(text.error().message, path, shown)},
            .is_unreadable = true};
  }
  PrefixList list = parse_prefix_list(*text);
  if (list.problems.empty())
    return {.prefixes = PrefixTable(std::move(list.prefixes)),
            .problems = {},
            .is_empty = text->empty()};
  AddressFile read;
  for (const auto& [line, message] : list.problems)
    read.problems.push_back("file " + in_quotes(shown) + " line " + std::to_string(line) + ": " +
                            message);
  if (list.omitted > 0)
    read.problems.push_back("file " + in_quotes(shown) + ": and " + std::to_string(list.omitted) +
                            " more lines");
  return read;
}

}  // namespace weir::config
