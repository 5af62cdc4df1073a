// What the workers together say of the servers behind: each of them finds out for itself, and the
// log is to say it once. Thread-safe; told only when something changes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "config/config.hpp"

namespace weir::app {

class ServerWatch {
 public:
  enum class Change : std::uint8_t { none, lost, back };

  explicit ServerWatch(const config::Config& config) {
    for (const auto& upstream : config.upstreams)
      left_out_.emplace_back(upstream.servers.size());
  }

  /// A worker leaves the server out, or uses it again. What it means for the process: the first
  /// worker to leave it out, or the last to take it back.
  Change tell(std::size_t upstream, std::size_t server, bool in_use) {
    auto& workers = left_out_[upstream][server];
    if (in_use) return workers.fetch_sub(1) == 1 ? Change::back : Change::none;
    return workers.fetch_add(1) == 0 ? Change::lost : Change::none;
  }

 private:
  std::vector<std::vector<std::atomic<int>>> left_out_;  ///< by how many workers
};

}  // namespace weir::app
