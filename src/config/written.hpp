// The values that came from a variable or a file, and how output shows them.
//
// A value that an operator keeps out of the configuration file must not appear in the output of a
// command, a log line or an admin endpoint. The loader notes every scalar with a ${...} in Written,
// and code that prints a value of the configuration prints it through Shown.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "identity/identity.hpp"
#include "limiter/plans.hpp"

namespace weir::config {

class Written {
 public:
  /// `text` is the text in the file at the key path `path`: `policies.p.rate`, `${RATE}`. Without
  /// `value`, which a secret never has here, without_values() does not find it.
  void add(const std::string& path, std::string_view text, std::string_view value = {});
  /// The absent key at `path` takes its value from the key at `origin`.
  void inherit(const std::string& path, const std::string& origin);
  /// Replaces each value in quotes by its text: `a cookie may be read as
  /// "${SESSION}"`. A name is also found in lower case, and without the kind before its colon.
  std::string without_values(std::string message) const;

 private:
  friend class Shown;
  struct Scalar {
    std::string text;
    std::string value;
  };
  std::map<std::string, Scalar, std::less<>> scalars_;
};

/// Prints the values at a key path and below: `shown["policies"]["p"]["cost"](policy.cost)`.
/// The Written must outlive it.
class Shown {
 public:
  explicit Shown(const Written& written, std::string path = {})
      : written_(written), path_(std::move(path)) {}
  Shown operator[](std::string_view key) const;
  Shown operator[](std::size_t index) const;

  const std::string& path() const { return path_; }

  /// Each returns the value as text, or the text in the file, on one line.
  std::string operator()(std::string value) const;
  std::string operator()(std::int64_t value) const;
  std::string operator()(Duration value) const;
  /// Returns the source with the names of its fields, parameters, cookies and segments as shown.
  identity::Source operator()(const identity::Source& source) const;
  /// Returns the source of plans: `header x-plan`, `claim plan of idp`, `file plans.tsv`.
  std::string operator()(const limiter::PlanSource& source) const;

  /// True if the value, or one within it, is not shown.
  bool is_hidden() const;
  /// True if a number that defines the policy at this path is not shown. Then results computed from
  /// it are hidden too.
  bool hides_numbers() const;

 private:
  std::vector<identity::Source> all(const std::vector<identity::Source>& sources) const;

  const Written& written_;
  std::string path_;
};

/// Shown instead of a number or a word that was computed from a hidden value.
inline constexpr std::string_view from_environment = "(from the environment)";
std::string unless_hidden(bool is_hidden, std::string text);

/// Replaces each number in the message by an ellipsis, for messages with a number computed from a
/// hidden value.
std::string without_numbers(std::string_view message);

}  // namespace weir::config
