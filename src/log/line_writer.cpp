#include "log/line_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "log/log_file.hpp"

namespace weir::log {
namespace {

constexpr Duration stall_check_interval = std::chrono::milliseconds(100);
constexpr std::size_t spare_chunks = 16;

// Blocks all signals: another thread waits for them, and writing to a closed pipe must return an
// error instead of raising SIGPIPE.
void block_all_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace

LossReport::LossReport(const std::string& output)
    : output_(output == "-" ? "standard output" : output) {}

std::string LossReport::begin(const std::string& why) {
  is_losing_ = true;
  return "access log: " + why +
         "; lines are lost until it recovers, and weir_access_log_dropped_total" + " counts them";
}

std::optional<std::string> LossReport::failed(int error) {
  if (is_losing_ && error_ == error) return std::nullopt;
  error_ = error;
  return begin("cannot write to " + output_ + ": " + std::system_category().message(error));
}

std::optional<std::string> LossReport::overflowed() {
  if (is_losing_) return std::nullopt;
  return begin("the reader of " + output_ + " is too slow");
}

std::optional<std::string> LossReport::written(std::uint64_t dropped) {
  if (!is_losing_) return std::nullopt;
  const std::uint64_t lost = dropped - dropped_before_;
  dropped_before_ = dropped;
  is_losing_ = false;
  error_ = 0;
  return "access log: writes to " + output_ + " again; " + std::to_string(lost) +
         (lost == 1 ? " line was lost" : " lines were lost");
}

/// An open file that is written to without long waits.
class LineWriter::Output {
 public:
  static Result<std::unique_ptr<Output>> open(const std::string& path);
  ~Output() {
    if (owned_) ::close(fd_);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  int fd() const { return fd_; }
  /// Like write(2), with at most the number of bytes that do not block after poll(2) has reported
  /// room.
  ssize_t write(std::string_view text) {
    const ssize_t written = ::write(fd_, text.data(), std::min(text.size(), write_bound_));
    if (written > 0) ends_line_ = text[static_cast<std::size_t>(written) - 1] == '\n';
    return written;
  }
  bool ends_line() const { return ends_line_; }

 private:
  Output(int fd, bool owned) : fd_(fd), owned_(owned) {
    struct stat status {};
    const bool regular = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    write_bound_ = regular ? SSIZE_MAX : PIPE_BUF;
  }

  int fd_;
  bool owned_;
  std::size_t write_bound_;
  bool ends_line_ = true;
};

Result<std::unique_ptr<LineWriter::Output>> LineWriter::Output::open(const std::string& path) {
  if (path == "-") return std::unique_ptr<Output>(new Output(STDOUT_FILENO, false));
  const auto fd = open_log_file(path);
  if (!fd) return fd.error();
  return std::unique_ptr<Output>(new Output(*fd, true));
}

Result<std::unique_ptr<LineWriter>> LineWriter::open(std::string path, LineWriterOptions options) {
  auto output = Output::open(path);
  if (!output) return output.error();
  return std::unique_ptr<LineWriter>(
      new LineWriter(std::move(path), std::move(options), std::move(output).value()));
}

LineWriter::LineWriter(std::string path, LineWriterOptions options, std::unique_ptr<Output> output)
    : path_(std::move(path)),
      options_(std::move(options)),
      output_(std::move(output)),
      loss_(path_) {
  thread_ = std::thread([this] { run(); });
}

LineWriter::~LineWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  thread_.join();
}

void LineWriter::submit(std::string& lines) {
  {
    const std::lock_guard lock(mutex_);
    if (held_bytes_ + lines.size() > options_.queue_limit) {
      count_dropped(lines);
      overflowed_.store(true, std::memory_order_relaxed);
      lines.clear();
      return;
    }
    const std::size_t size = lines.size();
    // Small pieces are collected in one chunk: otherwise each of them would hold the memory of a
    // chunk while the reader is slow.
    if (!queue_.empty() && queue_.back().size() + lines.size() <= chunk_size) {
      queue_.back() += lines;
      lines.clear();
    } else {
      queue_.push_back(std::move(lines));
      lines = std::string();
      if (!spare_.empty()) {
        lines = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    held_bytes_ += size;
  }
  work_.notify_one();
}

Result<void> LineWriter::reopen() {
  auto output = Output::open(path_);
  if (!output) return output.error();
  {
    const std::lock_guard lock(mutex_);
    reopened_ = std::move(output).value();
  }
  work_.notify_one();
  return {};
}

void LineWriter::run() {
  block_all_signals();
  pthread_setname_np(pthread_self(), "weir-log");
  while (take_chunks()) {
    bool is_written = !taken_.empty();
    for (const auto& chunk : taken_)
      is_written &= write_chunk(chunk);
    give_back_chunks();
    if (overflowed_.exchange(false, std::memory_order_relaxed)) {
      report(loss_.overflowed());
    } else if (is_written) {
      report(loss_.written(dropped()));
    }
  }
}

// Returns false when the queue is empty and the writer is stopping.
bool LineWriter::take_chunks() {
  std::unique_lock lock(mutex_);
  work_.wait(lock, [this] { return stopping_ || reopened_ || !queue_.empty(); });
  if (reopened_) output_ = std::move(reopened_);
  std::swap(queue_, taken_);
  return !stopping_ || !taken_.empty();
}

void LineWriter::give_back_chunks() {
  const std::lock_guard lock(mutex_);
  for (auto& chunk : taken_) {
    held_bytes_ -= chunk.size();
    if (spare_.size() == spare_chunks) continue;
    chunk.clear();
    spare_.push_back(std::move(chunk));
  }
  taken_.clear();
}

// Writes as much as possible; drops the rest after an error or stop_timeout. Returns true if
// nothing was dropped.
bool LineWriter::write_chunk(std::string_view rest) {
  bool needs_newline = !output_->ends_line();  // an error has cut the line before this chunk
  while (!rest.empty() && await_writable()) {
    const ssize_t written = output_->write(needs_newline ? "\n" : rest);
    if (written < 0 && errno != EINTR && errno != EAGAIN) {
      report(loss_.failed(errno));
      break;
    }
    if (written > 0 && !std::exchange(needs_newline, false)) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  count_dropped(rest);
  return rest.empty();
}

void LineWriter::report(const std::optional<std::string>& sentence) const {
  if (sentence) options_.report(*sentence);
}

// Waits until there is room. Returns false if the writer is stopping and the reader has taken
// nothing for stop_timeout.
bool LineWriter::await_writable() {
  constexpr int interval_ms = stall_check_interval / std::chrono::milliseconds(1);
  for (Duration stalled{0}; !gave_up_;) {
    pollfd wanted{.fd = output_->fd(), .events = POLLOUT, .revents = 0};
    if (::poll(&wanted, 1, interval_ms) != 0) return true;
    if (overflowed_.load(std::memory_order_relaxed)) report(loss_.overflowed());
    const std::lock_guard lock(mutex_);
    if (stopping_) gave_up_ = (stalled += stall_check_interval) >= options_.stop_timeout;
  }
  return false;
}

void LineWriter::count_dropped(std::string_view lines) {
  dropped_.fetch_add(static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n')),
                     std::memory_order_relaxed);
}

}  // namespace weir::log
