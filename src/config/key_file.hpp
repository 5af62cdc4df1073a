// `jwks: {file: NAME}`: the keys of a provider from a file.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/cursor.hpp"
#include "config/secret_file.hpp"
#include "jwt/key_set.hpp"

namespace weir::config {

struct KeyFileContent {
  jwt::KeySet keys;
  std::vector<std::string> problems;  ///< why the file cannot be used
  std::vector<std::string> warnings;  ///< keys of it that cannot be used
  bool is_unreadable = false;         ///< a later try may succeed, without a change of the file
};

/// Without problems at least one key can be used. `shown` stands for the path in messages.
KeyFileContent read_key_file(const std::string& path, const std::string& shown,
                             Patience patience = std::chrono::seconds(5));

/// Reads the file and publishes its keys to the provider.
void read_key_file(const Cursor& in, identity::TokenProvider& provider, Config& to);

}  // namespace weir::config
