// Reports that a file has changed. This includes the exchange of a symbolic link in its path, by
// which Kubernetes updates a mounted ConfigMap.
//
// Uses inotify(7). It watches the directory of each component of the path and of each link's
// target. Problems are logged. Not thread-safe: one loop.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/event_burst.hpp"
#include "base/result.hpp"

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

class FileWatch {
 public:
  /// `changed` is called once for changes that come close together (EventBurst), when they are
  /// over, if the file is there.
  FileWatch(boost::asio::io_context& io, std::filesystem::path file, std::function<void()> changed);

  /// Returns why the file cannot be watched.
  Result<void> start();
  void stop();

 private:
  Result<void> watch_steps();
  void watch_again();
  void await_events();
  bool read_events();
  bool concerns(int watch, const std::string& name, std::uint32_t what) const;
  void note_event();
  void end_burst();

  const std::filesystem::path file_;
  const std::function<void()> changed_;
  boost::asio::posix::stream_descriptor events_;
  boost::asio::steady_timer burst_timer_;
  EventBurst burst_;
  std::string last_failure_;                    ///< of watching; logged once
  bool is_missing_ = false;                     ///< the file; logged once
  std::map<int, std::set<std::string>> names_;  ///< by watch: the names that matter
  std::map<int, std::filesystem::path> directories_;
};

}  // namespace weir::app
