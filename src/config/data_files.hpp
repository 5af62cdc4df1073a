// Reads the data files of a configuration, at a load and again when one changes: address lists, JWK
// sets and plans.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/prefix_table.hpp"
#include "base/siphash.hpp"
#include "config/config.hpp"
#include "config/files.hpp"
#include "jwt/key_set.hpp"
#include "limiter/plan_lines.hpp"

namespace weir::config {

class Cursor;

/// The result of reading a data file. Problems and warnings name the file by its text in the
/// configuration and never have a text of the file.
struct FileContent {
  Hash128 digest{};                   ///< of the text
  std::vector<std::string> problems;  ///< why the file cannot be used; none: it is complete
  std::vector<std::string> warnings;  ///< parts of it that are not used
  bool is_unreadable = false;         ///< a later try may succeed, without a change of the file
  bool is_empty = false;  ///< it has no byte, such as a file that is about to be written
};

struct AddressFile : FileContent {
  PrefixTable prefixes;
};
struct KeyFileContent : FileContent {
  jwt::KeySet keys;  ///< without problems at least one
};
struct PlanFileContent : FileContent {
  limiter::PlanTable table;
};

/// `shown` stands for the path in messages.
AddressFile read_address_file(const std::string& path, const std::string& shown,
                              Patience patience = load_patience);
KeyFileContent read_key_file(const std::string& path, const std::string& shown,
                             Patience patience = load_patience);
PlanFileContent read_plan_file(const std::string& path, const std::string& shown,
                               const limiter::PlanLineRules& rules, Patience patience = for_ever);

/// Reads the name of a data file, and the stamp of the file.
std::optional<DataFile> read_data_file_name(const Cursor& in);
/// Reports problems and warnings at the name of the file, and notes its digest.
void note_content(const Cursor& in, const FileContent& content);

/// The settings that the keys of identities written as values depend on.
identity::ValueOptions value_options(const Config& config);

/// The rules for the lines of a file whose key is this identity.
limiter::PlanLineRules plan_line_rules(const Config& config, std::size_t identity);

}  // namespace weir::config
