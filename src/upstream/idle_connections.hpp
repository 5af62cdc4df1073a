// The idle connections to one server, kept for later requests.
//
// Every change is also counted in `total`, the number of idle connections to all servers of the
// upstream. Not thread-safe: one worker, one loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "upstream/connection.hpp"

namespace weir::upstream {

class IdleConnections {
 public:
  explicit IdleConnections(std::size_t& total) : total_(total) {}
  ~IdleConnections() { close_all(); }
  IdleConnections(const IdleConnections&) = delete;
  IdleConnections& operator=(const IdleConnections&) = delete;

  bool empty() const { return idle_.empty(); }

  /// Returns the newest connection that the server has neither closed nor sent anything on; nullptr
  /// if there is none. Connections that are not quiet are closed.
  std::unique_ptr<Connection> take();
  /// Returns the newest one that this client connection gave back, if it is quiet. There is an
  /// older one only if a retry has made a new connection.
  std::unique_ptr<Connection> take_own(std::uint64_t client);
  /// Keeps the connection. If there are too many in total, closes the oldest of this server, or
  /// this one if the server has no other.
  void give_back(std::unique_ptr<Connection> connection, std::uint64_t client);

  void close_all();
  /// Closes those that this client connection gave back.
  void close_of(std::uint64_t client);
  /// Closes those for which `condition` is true.
  void close_if(const std::function<bool(Connection&)>& condition);

 private:
  struct Idle {
    std::unique_ptr<Connection> connection;
    std::uint64_t client;
  };

  std::size_t& total_;
  std::vector<Idle> idle_;  ///< ordered by the time of give_back(), newest last
};

}  // namespace weir::upstream
