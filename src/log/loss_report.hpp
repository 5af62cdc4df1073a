// The sentences that report lost lines of the access log: once when lines begin to be lost, and
// once when lines are written again. Pure; belongs to one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace weir::log {

class LossReport {
 public:
  /// `output`: the path as configured; "-" is standard output.
  explicit LossReport(const std::string& output);

  /// Lines are lost because of an error of write(2). Empty: this has been reported.
  std::optional<std::string> failed(int error);
  /// Lines are lost because the reader takes them too slowly. Empty: a loss has been reported.
  std::optional<std::string> overflowed();
  /// Lines were written. `dropped`: all lines lost so far. Empty: there was no loss.
  std::optional<std::string> written(std::uint64_t dropped);

 private:
  std::string begin(const std::string& why);

  std::string output_;
  bool is_losing_ = false;
  int error_ = 0;                     ///< reported; 0: none
  std::uint64_t dropped_before_ = 0;  ///< reported by written()
};

}  // namespace weir::log
