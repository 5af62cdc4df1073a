// The addresses that the process listens on. A reload opens new ones before anything else changes,
// and keeps those whose address is still configured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"
#include "config/diagnostic.hpp"
#include "proxy/listener.hpp"

namespace weir::app {

class Listeners {
 public:
  struct One {
    std::uint64_t id = 0;
    Endpoint configured;
    Endpoint bound;  ///< with the port that was picked
    bool secure = false;
    std::vector<proxy::ListeningSocket> sockets{};  ///< new: one a worker, until handed over
    bool is_new() const { return !sockets.empty(); }
  };

  /// Opens what is new for `count` workers; nothing changes before commit(). `next` gets the ports
  /// that were picked.
  Result<std::vector<One>, config::Diagnostic> prepare(std::vector<proxy::Listen>& next,
                                                       std::size_t count);
  /// `next`, without their sockets, are the running ones from now on. Logs what is new and what is
  /// gone.
  void commit(std::vector<One> next);
  /// Removes the files of unix sockets.
  ~Listeners();

 private:
  std::vector<One> running_;
  std::uint64_t next_id_ = 1;
};

}  // namespace weir::app
