// The servers of upstreams that workers have marked down. Each worker decides by itself; the log
// reports a server once for the process. Thread-safe; called only when something changes.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace weir::app {

class ServerWatch {
 public:
  enum class Change : std::uint8_t { none, down, up };

  /// A worker has marked the server up or down. Returns what that changes for the process: `down`
  /// for the first worker to mark it down, `up` when no worker has it marked down any more.
  /// `server` is a unique name.
  Change report(const std::string& server, bool is_up) {
    const std::lock_guard lock(mutex_);
    if (!is_up) return workers_down_[server]++ == 0 ? Change::down : Change::none;
    return mark_up(server) ? Change::up : Change::none;
  }

  /// A worker had marked the server down, and it is not configured any more.
  void remove(const std::string& server) {
    const std::lock_guard lock(mutex_);
    mark_up(server);
  }

 private:
  /// Returns true if no worker has it marked down any more.
  bool mark_up(const std::string& server) {
    const auto found = workers_down_.find(server);
    if (found == workers_down_.end() || --found->second > 0) return false;
    workers_down_.erase(found);
    return true;
  }

  std::mutex mutex_;
  std::map<std::string, int> workers_down_;  ///< by server, the number of workers; never 0
};

}  // namespace weir::app
