#include "cli/descriptor_arguments.hpp"

#include "rls/messages.hpp"

namespace weir::cli {

Result<std::vector<identity::DescriptorEntry>> read_entries_of(std::span<const std::string> texts) {
  if (texts.size() > rls::most_entries)
    return Problem{"more than " + std::to_string(rls::most_entries) + " entries of a descriptor"};
  std::vector<identity::DescriptorEntry> entries;
  for (const std::string& text : texts) {
    const std::size_t end = text.find('=');
    if (end == std::string::npos || end == 0)
      return Problem{"expected an entry KEY=VALUE, such as remote_address=192.0.2.1"};
    const std::string_view view = text;
    entries.push_back({.key = view.substr(0, end), .value = view.substr(end + 1)});
  }
  return entries;
}

}  // namespace weir::cli
