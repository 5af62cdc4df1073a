// Values that came from a variable or a file, and the text that is shown instead.
//
// A value that an operator keeps out of the configuration file must not appear in the output of a
// command, a log line or an admin endpoint. The loader adds every scalar with a ${...}; code that
// prints a value of the configuration looks up its key path first.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "identity/identity.hpp"

namespace weir::config {

/// Shown instead of a number or a word that was computed from such a value.
inline constexpr std::string_view from_environment = "(from the environment)";

class Written {
 public:
  /// `text` is the text in the file at `path`: `policies.p.rate`, `${RATE}`.
  void add(const std::string& path, std::string_view text);
  bool has(std::string_view path) const { return texts_.find(path) != texts_.end(); }
  /// True if the value at `path`, or one within it, was added.
  bool has_within(const std::string& path) const;
  /// True if such a value is a number that defines the policy: results computed from it are not
  /// shown either.
  bool hides_numbers_of(const std::string& policy_path) const;
  /// Returns `value`, or the text in the file if it was added, on one line.
  std::string shown(std::string_view path, std::string value) const;
  /// Returns the source with the names of its fields, parameters, cookies and segments as shown;
  /// `path` is that of its map.
  identity::Source shown(const std::string& path, const identity::Source& source) const;

 private:
  std::vector<identity::Source> shown_all(const std::string& path,
                                          const std::vector<identity::Source>& sources) const;

  std::map<std::string, std::string, std::less<>> texts_;
};

/// Replaces each number in the message by an ellipsis; for messages with a number computed from a
/// value that is not shown.
std::string without_numbers(std::string_view message);

}  // namespace weir::config
