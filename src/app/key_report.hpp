// The log lines about fetching the keys of a URL: each reason of a failure once until it changes or
// the keys are fetched again, and each problem of a set once.
//
// Pure: results in, lines out. Not thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "app/log.hpp"
#include "jwt/key_set.hpp"

namespace weir::app {

class KeyReport {
 public:
  /// Problems of a set that are listed; more are counted.
  static constexpr std::size_t listed_problems = 20;

  /// `subject` begins every line: "jwt provider idp".
  void set_subject(std::string subject) { subject_ = std::move(subject); }

  /// `reason`: why the keys of `url` could not be fetched, without the URL.
  std::vector<LogLine> failed(const std::string& url, const std::string& reason, bool has_keys);
  /// The set is the one that is in use already.
  std::vector<LogLine> fetched_again();
  /// Another set replaces the one in use. `digest` identifies its text. A set without a usable key
  /// is a warning each time.
  std::vector<LogLine> fetched(const std::string& url, const jwt::ReadKeySet& set,
                               const std::string& digest);

 private:
  void add_problems(const jwt::ReadKeySet& set, std::vector<LogLine>& lines) const;
  LogLine line(LogLine::Level level, const std::string& text) const;

  std::string subject_;
  std::string failure_;               ///< logged, and not over; empty: none
  std::deque<std::string> reported_;  ///< digests of the last sets whose problems were logged
};

}  // namespace weir::app
