// Several logs as one, in the order of time: those of several instances, or the parts into which
// one was rotated, in any order. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/log_file.hpp"
#include "replay/json_line.hpp"
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
    bool is_at_end = false;  ///< of its file
  };

  void advance(Source& source);

  std::vector<Source> sources_;
  Source* used_ = nullptr;  ///< whose request was returned last
  replay::LineReport lines_;
  std::vector<std::string> problems_;
};

}  // namespace weir::cli
