// The servers that workers leave out. Each worker decides for itself, and the log reports a change
// once. Thread-safe; called only when something changes.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace weir::app {

class ServerWatch {
 public:
  enum class Change : std::uint8_t { none, lost, back };

  /// A worker leaves the server out, or uses it again. Returns `lost` for the first worker that
  /// leaves it out, `back` when the last one uses it again. `server` is a unique name.
  Change report(const std::string& server, bool in_use) {
    const std::lock_guard lock(mutex_);
    if (!in_use) return left_out_[server]++ == 0 ? Change::lost : Change::none;
    return take_back(server) ? Change::back : Change::none;
  }

  /// A worker has left the server out, and it is not configured any more.
  void remove(const std::string& server) {
    const std::lock_guard lock(mutex_);
    take_back(server);
  }

 private:
  /// True if every worker uses it again.
  bool take_back(const std::string& server) {
    const auto found = left_out_.find(server);
    if (found == left_out_.end() || --found->second > 0) return false;
    left_out_.erase(found);
    return true;
  }

  std::mutex mutex_;
  std::map<std::string, int> left_out_;  ///< by how many workers
};

}  // namespace weir::app
