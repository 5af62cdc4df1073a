// Files of address lists: any text is parsed or refused with a line of it, and the table finds the
// networks of every prefix in it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/prefix_list.hpp"
#include "base/prefix_table.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const PrefixList list = parse_prefix_list(text);
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  require(list.prefixes.size() + list.problems.size() + list.omitted <= lines);
  for (const auto& problem : list.problems)
    require(problem.line >= 1 && problem.line <= lines && !problem.message.empty());
  const PrefixTable table(list.prefixes);
  require(table.size() <= list.prefixes.size());
  for (const IpPrefix& prefix : list.prefixes) {
    require(IpPrefix::parse(prefix.to_string()) == prefix);
    const auto found = table.find(prefix.network());
    require(found && found->bits() >= prefix.bits() && found->contains(prefix.network()));
  }
  return 0;
}
