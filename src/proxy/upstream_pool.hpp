// Keep-alive connections of one worker to one upstream.
//
// A connection taken from the pool belongs to whoever holds it and is closed when dropped;
// give_back() returns it. The caller gives back only connections whose last answer was read to its
// exact end. Not thread-safe: one worker, one loop.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <boost/asio/ip/tcp.hpp>

#include "config/config.hpp"
#include "http/request_view.hpp"
#include "proxy/input_buffer.hpp"
#include "proxy/io.hpp"

namespace weir::proxy {

struct UpstreamConnection {
  explicit UpstreamConnection(asio::io_context& io) : socket(io.get_executor()) {}

  Socket socket;
  InputBuffer input{16 * 1024};
  std::vector<http::FieldView> fields;  ///< of the answer being read; views into input
  bool reusable = false;  ///< its answer ends by itself and the upstream keeps the connection
  bool reused = false;    ///< came out of the pool: may have been closed by the upstream meanwhile
  std::uint64_t idle_since = 0;  ///< tick
};

class UpstreamPool {
 public:
  UpstreamPool(asio::io_context& io, const config::Upstream& settings)
      : io_(io), settings_(settings) {}

  /// An idle connection that the upstream has not closed and has sent nothing on; nullptr if there
  /// is none.
  std::unique_ptr<UpstreamConnection> take_idle();
  std::unique_ptr<UpstreamConnection> make() { return std::make_unique<UpstreamConnection>(io_); }
  /// Looks the name up, once for all who wait for it, and remembers the addresses for a while. At
  /// most `timeout`: timed_out then.
  Task<error_code> resolve(std::uint64_t tick, Duration timeout);
  /// Tries the addresses in turn. The caller bounds the time by cancelling the socket.
  Task<error_code> connect(UpstreamConnection& connection);
  void give_back(std::unique_ptr<UpstreamConnection> connection, std::uint64_t tick);

  /// Closes what has been idle for `idle_ticks` or longer.
  void close_idle(std::uint64_t tick, std::uint64_t idle_ticks);
  void close_all() { idle_.clear(); }
  const config::Upstream& settings() const { return settings_; }

 private:
  using Endpoints = std::vector<asio::ip::tcp::endpoint>;
  Task<> look_up(std::uint64_t tick);

  asio::io_context& io_;
  const config::Upstream& settings_;
  std::vector<std::unique_ptr<UpstreamConnection>> idle_;  ///< the longest idle first
  Endpoints endpoints_;
  std::uint64_t resolved_at_ = 0;
  error_code lookup_error_;
  bool looking_up_ = false;
  std::vector<Timer*> waiting_;  ///< for the lookup
};

}  // namespace weir::proxy
