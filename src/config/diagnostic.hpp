// A problem or a warning about a configuration: the defect, its position, and the fix.
#pragma once

#include <string>

namespace weir::config {

/// Lines and columns count from 1, columns in bytes; 0 means the whole file.
struct Diagnostic {
  int line = 0;
  int column = 0;
  std::string key_path;  ///< `policies.per_client.rate`
  std::string message;   ///< the defect and the fix; never contains a secret
  /// `LINE:COLUMN: policies.per_client.rate: message`, without absent parts
  std::string to_string() const;
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

}  // namespace weir::config
