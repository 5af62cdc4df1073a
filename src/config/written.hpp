// Values that came from a variable or a file, and the text to show in their place.
//
// A value that an operator keeps out of the configuration file must not come back out of a command,
// a log line or an admin endpoint. The loader notes here every scalar that holds a ${...}; code
// that prints a value of the configuration looks its key path up first.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "identity/identity.hpp"

namespace weir::config {

/// Shown where a number or a word was computed from such a value.
inline constexpr std::string_view from_environment = "(from the environment)";

class Written {
 public:
  /// `text` is what the file has at `path`: `policies.p.rate`, `${RATE}`.
  void add(const std::string& path, std::string_view text);
  bool has(std::string_view path) const { return texts_.find(path) != texts_.end(); }
  /// The value at `path`, or one within it.
  bool has_within(const std::string& path) const;
  /// True for a policy defined by such a number: results computed from it are not shown either.
  bool hides_numbers_of(const std::string& policy_path) const;
  /// `value`, or what the file has in its place, on one line.
  std::string shown(std::string_view path, std::string value) const;
  /// The source with the names of its fields, parameters, cookies and segments as shown; `path` is
  /// that of its map.
  identity::Source shown(const std::string& path, const identity::Source& source) const;

 private:
  std::vector<identity::Source> shown_all(const std::string& path,
                                          const std::vector<identity::Source>& sources) const;

  std::map<std::string, std::string, std::less<>> texts_;
};

/// The message with an ellipsis for each number: where a number of it was computed from a value
/// that is not shown.
std::string without_numbers(std::string_view message);

}  // namespace weir::config
