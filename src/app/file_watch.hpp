// Reports that a file has changed. This includes the exchange of a symbolic link in its path, by
// which Kubernetes updates a mounted ConfigMap.
//
// Uses inotify(7). It watches the directory of each component of the path and of each link's
// target. Problems are logged. Not thread-safe: one loop.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "loop/calls.hpp"

namespace weir::app {

/// An entry of a directory in the path of a file.
struct PathStep {
  std::filesystem::path directory;
  std::string name;
  friend auto operator<=>(const PathStep&, const PathStep&) = default;
};

/// The steps to `file` as the file system is now: every component, and those of links. Ends where
/// something is missing. The last step is the file itself if it is there.
std::vector<PathStep> steps_to(const std::filesystem::path& file);

/// Decides when a burst of events is over, such as the several changes that an editor or a
/// ConfigMap makes at once. Pure.
class EventBurst {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Since the last event.
  static constexpr std::chrono::milliseconds quiet_after{50};
  /// Since the first event, however many follow.
  static constexpr std::chrono::milliseconds longest{1000};

  /// An event at `now`. Returns when the burst is over if no other event comes.
  Time note(Time now) {
    if (!began_at_) began_at_ = now;
    return std::min(now + quiet_after, *began_at_ + longest);
  }
  /// The next event begins another burst.
  void end() { began_at_.reset(); }

 private:
  std::optional<Time> began_at_;
};

/// Names the reloads that it causes in the log.
inline constexpr const char* watch_origin = "--watch";

class FileWatch {
 public:
  /// `changed` is called once for changes that come close together (EventBurst), when they are
  /// over, if the file is there.
  FileWatch(boost::asio::io_context& io, std::filesystem::path file, std::function<void()> changed);

  /// Returns why the file cannot be watched.
  Result<void> start();
  void stop();

  /// Returns true if the file is missing, and logs that once. For a reader that failed: the file
  /// may have been removed after `changed` was called.
  bool note_missing();

 private:
  Result<void> watch_steps();
  void watch_again();
  void on_events();
  bool read_events();
  bool concerns(int watch, const std::string& name, std::uint32_t what) const;
  void note_event();
  void end_burst();

  const std::filesystem::path file_;
  const std::function<void()> changed_;
  boost::asio::io_context& io_;
  int events_ = -1;  ///< an inotify(7) descriptor, which the watch owns
  std::optional<loop::ReadWatch> watch_;
  loop::Alarm burst_end_;
  EventBurst burst_;
  std::string last_failure_;                    ///< of watching; logged once
  bool is_missing_ = false;                     ///< the file; logged once
  std::map<int, std::set<std::string>> names_;  ///< by watch: the names that matter
  std::map<int, std::filesystem::path> directories_;
};

}  // namespace weir::app
