// The addresses that the process listens on, for clients and for the admin server. A reload opens
// new ones before anything else changes, and keeps those whose address is still configured.
//
// Not thread-safe: the server's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config/config.hpp"
#include "config/diagnostic.hpp"
#include "loop/listening_socket.hpp"

namespace weir::app {

class Listeners {
 public:
  struct One {
    std::uint64_t id = 0;
    Endpoint configured{};
    bool secure = false;
    loop::BoundAddress bound{};  ///< new: a socket for each worker, until handed over
    bool is_new() const { return !bound.sockets.empty(); }
  };

  struct Prepared {
    std::vector<One> all{};  ///< as Config::listen; kept ones without their file
    /// The address of the admin server.
    struct Admin {
      std::optional<Endpoint> configured{};
      std::optional<Endpoint> local{};
      bool has_changed = false;
      std::optional<loop::BoundAddress> bound{};  ///< if it has changed and is not off
    } admin{};
  };

  /// Opens the new addresses of `next` and adds what is wrong to `problems`. Changes nothing that
  /// runs; dropping the result closes what is new.
  Prepared prepare(const config::Config& next, std::vector<config::Diagnostic>& problems);
  /// Lets those take connections whose address overlaps one that will be closed: the last step
  /// before commit(), because they take them from it.
  static void start(Prepared& prepared, const config::Config& next,
                    std::vector<config::Diagnostic>& problems);
  /// `next` is running from now on, without the sockets. Logs new and removed listeners.
  void commit(Prepared next);

 private:
  std::vector<One> running_;
  Prepared::Admin admin_;
  std::uint64_t next_id_ = 1;
};

}  // namespace weir::app
