// Reads the file of an address list.
#pragma once

#include <string>
#include <vector>

#include "base/prefix_table.hpp"
#include "config/secret_file.hpp"

namespace weir::config {

struct AddressFile {
  PrefixTable prefixes;
  /// Why it cannot be read, or its first wrong lines; never its text.
  std::vector<std::string> problems;
  bool is_unreadable = false;  ///< a later try may succeed, without a change of the file
  bool is_empty = false;       ///< it has no byte, such as a file that is about to be written
};

/// Without problems the prefixes are complete. `shown` stands for the path in problems.
AddressFile read_address_file(const std::string& path, const std::string& shown,
                              Patience patience = std::chrono::seconds(5));

}  // namespace weir::config
