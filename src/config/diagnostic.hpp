// What is wrong (or odd) in a configuration, where it is and how to mend it.
#pragma once

#include <string>

namespace weir::config {

/// Lines and columns count from 1, columns in bytes; 0 means the whole file.
struct Diagnostic {
  int line = 0;
  int column = 0;
  std::string key_path;  ///< `policies.per_client.rate`
  std::string message;   ///< says what and how; never contains a secret
  /// `LINE:COLUMN: policies.per_client.rate: message`, without the parts it does not have
  std::string to_string() const;
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

}  // namespace weir::config
