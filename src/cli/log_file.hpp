// A log file that is read in pieces: plain, or compressed with gzip or zstd, whatever its name is.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace weir::cli {

class LogFile {
 public:
  /// `path`: "-" is standard input.
  static Result<std::unique_ptr<LogFile>> open(const std::string& path);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  /// Returns the next piece of the log, decompressed; empty: its end. Valid until the next call. A
  /// problem: the file cannot be read, or its compressed data is damaged or cut off.
  Result<std::string_view> read();

  /// Bytes of the file that were read.
  std::uint64_t position() const;
  /// Bytes of the file; 0 if it is no regular file.
  std::uint64_t size() const;

 private:
  struct State;
  explicit LogFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace weir::cli
