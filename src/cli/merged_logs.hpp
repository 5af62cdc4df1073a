// Several logs as one, in the order of time: those of several instances, or the parts into which
// one was rotated, in any order. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "cli/log_file.hpp"
#include "replay/json_line.hpp"
#include "replay/log_clock.hpp"
#include "replay/log_lines.hpp"
#include "replay/logged_request.hpp"
#include "replay/report.hpp"

namespace weir::cli {

class MergedLogs {
 public:
  /// The problem has the path.
  static Result<MergedLogs> open(const std::vector<std::string>& paths,
                                 const replay::JsonMembers& members);

  /// The next request of the log that is furthest behind; nothing: all logs are at their end. Valid
  /// until the next call.
  std::optional<replay::LoggedRequest> next();
  /// The path and the line of the request that next() has returned. The path stays in place.
  const std::string& path() const { return used_->path; }
  std::uint64_t line() const { return used_->lines.number(); }
  /// How far the log of that request is, and the others are further.
  Instant time() const { return used_->place(); }
  /// A line of a log has a time that is far ahead of the lines after it.
  bool has_wrong_times() const {
    return std::ranges::any_of(sources_,
                               [](const Source& source) { return source.clock.was_wrong(); });
  }
  /// Counts the lines that were read until now.
  const replay::LineReport& lines() const { return lines_; }
  /// Why a log could not be read to its end, each with its path.
  const std::vector<std::string>& problems() const { return problems_; }

  std::uint64_t position() const;
  /// Bytes of all files; 0 if one is no regular file.
  std::uint64_t size() const;

 private:
  struct Source {
    std::string path;
    std::unique_ptr<LogFile> file;
    replay::LogLines lines;
    std::optional<replay::LoggedRequest> request{};
    replay::LogClock clock{};
    bool is_at_end = false;  ///< of its file

    /// The place of its request among those of the other logs. A time that is far ahead does not
    /// hold back the lines after it.
    Instant place() const {
      return request->at > clock.time() + replay::LogClock::largest_step ? clock.time()
                                                                         : request->at;
    }
  };

  void advance(Source& source);

  std::vector<Source> sources_;
  Source* used_ = nullptr;  ///< whose request was returned last
  replay::LineReport lines_;
  std::vector<std::string> problems_;
};

}  // namespace weir::cli
