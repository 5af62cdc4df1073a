// Writes lines of text to a file, pipe or terminal on a thread of its own, so that no caller waits
// for a disk or a slow reader.
//
// Each worker collects whole lines in its LineBuffer and passes them on in chunks. The bytes that
// wait are bounded; beyond the bound, and when writing fails, lines are dropped and counted.
// Buffers are reused, so the steady state allocates nothing. LineWriter is thread-safe, a
// LineBuffer belongs to one thread and must not outlive its writer.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace weir::log {

/// The sentences that report lost lines: once when lines begin to be lost, and once when lines are
/// written again. Pure; belongs to one thread.
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

struct LineWriterOptions {
  std::size_t queue_limit = 8 * 1024 * 1024;  ///< bytes that may wait to be written
  Duration stop_timeout =
      std::chrono::seconds(2);  ///< how long the destructor waits for a reader that accepts nothing
  /// Called by the writing thread with the sentences of a LossReport.
  std::function<void(const std::string&)> report = [](const std::string&) {};
};

class LineWriter {
 public:
  /// "-" is standard output; any other path is a file, which is created if needed and appended to.
  static Result<std::unique_ptr<LineWriter>> open(std::string path, LineWriterOptions options = {});
  ~LineWriter();  ///< writes the pending lines
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  /// Takes whole lines, each ended by '\n', and replaces them with an empty buffer that has
  /// capacity.
  void submit(std::string& lines);

  /// Opens the path again, after a log rotation has moved the file away. If that fails the old file
  /// stays in use.
  Result<void> reopen();

  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }  ///< lines

  /// The size at which a LineBuffer passes its lines on.
  static constexpr std::size_t chunk_size = 64 * 1024;

 private:
  class Output;
  LineWriter(std::string path, LineWriterOptions options, std::unique_ptr<Output> output);

  void run();
  bool take_chunks();
  void give_back_chunks();
  bool write_chunk(std::string_view rest);
  bool await_writable();
  void report(const std::optional<std::string>& sentence) const;
  void count_dropped(std::string_view lines);

  const std::string path_;
  const LineWriterOptions options_;

  std::mutex mutex_;  // protects the members down to stopping_
  std::condition_variable work_;
  std::vector<std::string> queue_;
  std::vector<std::string> spare_;
  std::size_t held_bytes_ = 0;  // queued or being written
  std::unique_ptr<Output> reopened_;
  bool stopping_ = false;

  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<bool> overflowed_{false};  // the queue was full
  std::unique_ptr<Output> output_;       // used by the writing thread only, down to gave_up_
  std::vector<std::string> taken_;
  LossReport loss_;
  bool gave_up_ = false;
  std::thread thread_;
};

/// One worker's lines on their way to the writer.
class LineBuffer {
 public:
  explicit LineBuffer(LineWriter& writer) : writer_(writer) {}
  ~LineBuffer() { flush(); }
  LineBuffer(const LineBuffer&) = delete;
  LineBuffer& operator=(const LineBuffer&) = delete;

  /// Calls append(std::string&), which appends one line with its '\n'. If it throws, the line is
  /// removed.
  template <class Append>
  void add(Append&& append) {
    const std::size_t before = lines_.size();
    try {
      append(lines_);
    } catch (...) {
      lines_.resize(before);
      throw;
    }
    if (lines_.size() >= LineWriter::chunk_size) flush();
  }
  /// Passes on the lines collected so far; a worker calls it on its tick.
  void flush() {
    if (!lines_.empty()) writer_.submit(lines_);
  }

 private:
  LineWriter& writer_;
  std::string lines_;
};

}  // namespace weir::log
