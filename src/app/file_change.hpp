// Decides when a file that is checked from time to time has to be read again. Pure.
#pragma once

#include "config/file_stamp.hpp"

namespace weir::app {

class FileChange {
 public:
  /// `read`: the stamp of the file before it was read.
  explicit FileChange(const config::FileStamp& read) : read_(read), seen_(read) {}

  /// The stamp at a check. True: read the file now. That is the second check after a change, so
  /// that a file that is still being written is not read, and each later check until note_read().
  bool note(const config::FileStamp& now) {
    const bool is_quiet = now == seen_;
    seen_ = now;
    return is_quiet && now != read_;
  }
  /// The file of the last check was read, whether its content was right or wrong.
  void note_read() { read_ = seen_; }

 private:
  config::FileStamp read_;
  config::FileStamp seen_;  ///< at the last check
};

}  // namespace weir::app
