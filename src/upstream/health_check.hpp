// Checks one server at an interval: a GET on a connection of its own, in the protocol of the
// upstream, answered 2xx or 3xx.
//
// Driven by the worker's ticks; runs on its loop only. A check in progress keeps this object alive.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "upstream/pooled_server.hpp"

namespace weir::upstream {

class HealthCheck : public std::enable_shared_from_this<HealthCheck> {
 public:
  /// `seed` selects the time of the first check, within the first second, so that checks of
  /// different workers and servers are spread.
  HealthCheck(asio::io_context& io, std::shared_ptr<PooledServer> server,
              options::HealthCheck settings, std::uint64_t seed);

  const options::HealthCheck& settings() const { return settings_; }
  /// Assigns the check to this generation.
  void begin(std::uint64_t generation) { generation_ = generation; }
  std::uint64_t generation() const { return generation_; }

  /// Starts a check that is due and ends one that takes too long.
  void on_tick(std::uint64_t tick);
  /// Stops checking.
  void stop();

 private:
  loop::Task<> run(std::shared_ptr<HealthCheck> self, std::uint64_t tick);
  loop::Task<error_code> connect(std::uint64_t tick);
  loop::Task<> ask();
  loop::Task<> ask_http2();
  void record_failure();
  void cut();

  asio::io_context& io_;
  std::shared_ptr<PooledServer> server_;
  const options::HealthCheck settings_;
  std::uint64_t generation_ = 0;
  std::string request_;
  std::unique_ptr<Connection> connection_;  ///< while it is opened, and with HTTP/1.1
  std::shared_ptr<Http2Connection> http2_;  ///< with HTTP/2
  std::uint64_t spread_;                    ///< ticks until the first check
  std::uint64_t next_at_ = 0;               ///< 0: not begun
  std::uint64_t give_up_at_ = 0;
  int status_ = 0;  ///< of its answer; 0: none yet
  bool is_running_ = false;
  bool was_asked_ = false;
  bool was_cut_ = false;
  bool stopped_ = false;
};

}  // namespace weir::upstream
