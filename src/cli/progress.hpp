// A progress bar on the terminal of standard error. Nothing is written if that is no terminal. Not
// thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

namespace weir::cli {

class Progress {
 public:
  Progress();
  /// Removes the bar.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows how far the work is, at most ten times a second. `size`: 0 if it is not known.
  void show(std::uint64_t position, std::uint64_t size);
  bool is_visible() const { return is_terminal_; }

 private:
  bool is_terminal_;
  bool is_shown_ = false;
  std::chrono::steady_clock::time_point begun_at_;
  std::chrono::steady_clock::time_point shown_at_{};
};

}  // namespace weir::cli
