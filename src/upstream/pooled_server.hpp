// One server of an upstream as used by one worker: its keep-alive connections, its addresses, and
// whether it is in use. It survives reloads that do not change it.
//
// A connection taken from here belongs to its holder and is closed when dropped; give_back()
// returns it. The caller gives back only connections whose last response was read to its exact end.
// Not thread-safe: one worker, one loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <boost/asio/ip/tcp.hpp>

#include "base/counters.hpp"
#include "loop/descriptor_budget.hpp"
#include "options/upstream.hpp"
#include "upstream/availability.hpp"
#include "upstream/connection.hpp"
#include "upstream/http2_connections.hpp"
#include "upstream/idle_connections.hpp"

namespace weir::upstream {

/// The objects of a worker that the servers of its upstreams use.
struct ServerDependencies {
  asio::io_context& io;
  loop::DescriptorBudget& descriptors;
  std::function<void()> give_up_idle;  ///< closes the idle connections of all upstreams
};

/// State shared by the servers of an upstream, kept across reloads.
struct PoolState : ServerDependencies {
  options::Reuse reuse = options::Reuse::always;
  options::Protocol protocol = options::Protocol::http1;
  Duration idle_timeout{};
  std::shared_ptr<const tls::ClientContext> tls{};  ///< for servers with https://
  std::size_t idle = 0;                             ///< connections of all servers
};

class PooledServer : public std::enable_shared_from_this<PooledServer> {
 public:
  /// `in_use`: 1 until the server is marked down.
  PooledServer(std::shared_ptr<PoolState> state, options::Server settings,
               std::shared_ptr<Gauge> in_use);
  PooledServer(const PooledServer&) = delete;
  PooledServer& operator=(const PooledServer&) = delete;

  const options::Server& settings() const { return settings_; }
  /// settings().authority()
  const std::string& authority() const { return authority_; }
  std::uint32_t active() const { return active_; }  ///< requests in progress

  /// Returns an idle connection that the server has neither closed nor sent anything on; nullptr if
  /// there is none. With `reuse: safe`, returns only one that this client connection gave back.
  std::unique_ptr<Connection> take_idle(std::uint64_t client);
  /// The connections that requests share; nullptr: each request has one for itself, with HTTP/1.1.
  Http2Connections* shared() { return is_shared_ ? &shared_ : nullptr; }
  std::unique_ptr<Connection> make() { return std::make_unique<Connection>(state_->io, *this); }
  /// Looks up the name, once for all tasks that wait for it, and keeps the addresses for a while.
  /// Returns timed_out after `timeout`.
  loop::Task<error_code> resolve(std::uint64_t tick, Duration timeout);
  /// Tries the addresses in turn, then starts TLS if the URL is https://. The caller limits the
  /// time by cancelling the socket. no_descriptors: no descriptor was left; the server is not at
  /// fault. Sets connection.speaks_http2.
  loop::Task<error_code> connect(Connection& connection);
  /// `client`: the unique number of the client connection whose request it carried.
  void give_back(std::unique_ptr<Connection> connection, std::uint64_t tick, std::uint64_t client);

  /// Called once a second. Closes connections that have been idle for too long, that have received
  /// something, or that lead to an address that the name no longer has. Looks up the name of a
  /// server in use again.
  void sweep(std::uint64_t tick);
  /// True if availability().is_in_use() has changed since the last call; publishes it.
  bool has_changed();
  /// Assigns the server to this generation.
  void begin(std::uint64_t generation, const std::optional<options::HealthCheck>& check);
  /// The generation to which it belongs.
  std::uint64_t generation() const { return generation_; }
  /// Called when no new generation contains the server, or the worker stops: it keeps no connection
  /// idle any more.
  void retire();
  void close_idle();
  /// Called when this client connection has ended: closes the idle connections that it gave back.
  void close_idle_of(std::uint64_t client) { idle_.close_of(client); }

  const Availability& availability() const { return availability_; }
  void chosen(std::uint64_t tick) { availability_.chosen(tick); }
  /// Called when it has sent the head of a response.
  void answered() { availability_.answered(); }
  /// Called when it could not be reached, or did not respond on a new connection.
  void failed(std::uint64_t tick);
  /// Stores the error of a connection: the TLS error, or if it is empty this text.
  void note(std::string_view tls_error, std::string_view otherwise);
  /// The last error, as text for the log.
  const std::string& last_error() const { return last_error_; }
  /// Records the result of an active check.
  void checked(bool good);

 private:
  loop::Task<> look_up(std::shared_ptr<PooledServer> self, std::uint64_t tick);
  bool has_descriptor(Connection& connection);

  friend class UnderWay;

  std::shared_ptr<PoolState> state_;
  const options::Server settings_;
  const std::string authority_;
  std::shared_ptr<Gauge> in_use_;
  std::uint64_t generation_ = 0;
  bool is_retired_ = false;
  std::uint32_t active_ = 0;
  IdleConnections idle_;
  Http2Connections shared_;
  bool is_shared_;  ///< HTTP/2 is spoken, as far as is known
  Addresses addresses_;
  Availability availability_;
  error_code lookup_error_;
  std::string last_error_;
  bool looking_up_ = false;
  bool was_connected_ = false;         ///< since the last lookup
  std::vector<loop::Timer*> waiting_;  ///< for the result of the lookup
};

/// Counts a request in progress at a server for as long as this object lives.
class UnderWay {
 public:
  explicit UnderWay(PooledServer& server) : active_(server.active_) { ++active_; }
  ~UnderWay() { --active_; }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

 private:
  std::uint32_t& active_;
};

}  // namespace weir::upstream
