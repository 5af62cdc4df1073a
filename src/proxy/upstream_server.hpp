// One server of an upstream as one worker sees it: its keep-alive connections, its addresses, and
// whether it is in use. It goes on over reloads that do not change it.
//
// A connection taken from here belongs to whoever holds it and is closed when dropped; give_back()
// returns it. The caller gives back only connections whose last answer was read to its exact end.
// Not thread-safe: one worker, one loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <boost/asio/ip/tcp.hpp>

#include "base/counters.hpp"
#include "http/request_view.hpp"
#include "proxy/addresses.hpp"
#include "proxy/descriptor_budget.hpp"
#include "proxy/ejection.hpp"
#include "proxy/health.hpp"
#include "proxy/input_buffer.hpp"
#include "proxy/stream.hpp"
#include "proxy/turns.hpp"
#include "upstream/upstream.hpp"

namespace weir::proxy {

class UpstreamServer;

struct UpstreamConnection {
  UpstreamConnection(asio::io_context& io, UpstreamServer& to) : server(to), stream(io) {}

  UpstreamServer& server;
  DescriptorBudget::Share descriptor;  ///< from connect() on, until the stream is closed
  Stream stream;
  Addresses::Endpoint endpoint;
  InputBuffer input{16 * 1024};
  std::vector<http::FieldView> fields;  ///< of the answer being read; views into input
  bool reusable = false;  ///< its answer ends by itself and the upstream keeps the connection
  bool reused = false;    ///< was idle before: may have been closed by the upstream meanwhile
  bool is_check = false;  ///< its descriptor is set aside
  std::uint64_t idle_since = 0;  ///< tick
};

/// What the upstreams of a worker need of it.
struct UpstreamNeeds {
  asio::io_context& io;
  const Turns& turns;
  DescriptorBudget& descriptors;
  std::function<void()> give_up_idle;  ///< closes the idle connections of all upstreams
};

/// State shared by the servers of an upstream, over reloads.
struct UpstreamState : UpstreamNeeds {
  upstream::Reuse reuse = upstream::Reuse::always;
  Duration idle_timeout{};
  std::shared_ptr<const tls::ClientContext> tls{};  ///< for servers with https://
  std::size_t idle = 0;                             ///< connections, of all servers
};

class UpstreamServer : public std::enable_shared_from_this<UpstreamServer> {
 public:
  /// `in_use`: 1 until the server is left out.
  UpstreamServer(std::shared_ptr<UpstreamState> state, upstream::Server settings,
                 std::shared_ptr<Gauge> in_use);
  UpstreamServer(const UpstreamServer&) = delete;
  UpstreamServer& operator=(const UpstreamServer&) = delete;

  const upstream::Server& settings() const { return settings_; }
  std::uint32_t active() const { return active_; }  ///< requests in progress

  /// An idle connection that the server has not closed and has sent nothing on; nullptr if there is
  /// none. With `reuse: safe` only one that this client connection gave back.
  std::unique_ptr<UpstreamConnection> take_idle(std::uint64_t client);
  std::unique_ptr<UpstreamConnection> make() {
    return std::make_unique<UpstreamConnection>(state_->io, *this);
  }
  /// Looks the name up, once for all who wait for it, and remembers the addresses for a while. At
  /// most `timeout`: timed_out then.
  Task<error_code> resolve(std::uint64_t tick, Duration timeout);
  /// Tries the addresses in turn, then TLS if the URL says so. The caller bounds the time by
  /// cancelling the socket. no_descriptors: there is none left, whatever the server is like.
  Task<error_code> connect(UpstreamConnection& connection);
  /// `client`: the client connection whose request it carried, a number that no other one gets.
  void give_back(std::unique_ptr<UpstreamConnection> connection, std::uint64_t tick,
                 std::uint64_t client);

  /// Once a second: closes connections that have been idle for too long, on which something has
  /// arrived, or that lead to an address that the name no longer has. Looks the name of a server in
  /// use up again.
  void sweep(std::uint64_t tick);
  /// True if is_in_use() has changed since the last time; publishes it.
  bool has_changed();
  /// As last published.
  bool was_in_use() const { return was_in_use_; }
  /// Is a server of this generation.
  void begin(std::uint64_t generation, const std::optional<upstream::HealthCheck>& check);
  /// The generation that it is of.
  std::uint64_t generation() const { return generation_; }
  /// No generation that begins has it: keeps no connection idle any more.
  void retire();
  void close_idle();
  /// This client connection has ended: closes the idle connections that it gave back.
  void close_idle_of(std::uint64_t client);

  // Whether it is in use.
  bool is_up() const { return health_.is_up(); }
  bool is_out(std::uint64_t tick) const { return ejection_.is_out(tick); }
  bool is_in_use() const { return is_up() && !ejection_.is_ejected(); }
  void chosen(std::uint64_t tick) { ejection_.chosen(tick); }
  /// It sent the head of an answer.
  void answered() { ejection_.succeeded(); }
  /// It could not be reached, or answered nothing on a connection of its own.
  void failed(std::uint64_t tick);
  /// Keeps what went wrong with a connection: what TLS says of it, or else this.
  void note(const UpstreamConnection& connection, std::string_view otherwise);
  /// What went wrong last, in words for the log.
  const std::string& last_error() const { return last_error_; }
  /// What an active check found.
  void checked(bool good);

 private:
  struct Idle {
    std::unique_ptr<UpstreamConnection> connection;
    std::uint64_t client;
  };

  std::unique_ptr<UpstreamConnection> take_own(std::uint64_t client);
  void look_at_idle();
  void put_back_quiet();
  Task<> look_up(std::shared_ptr<UpstreamServer> self, std::uint64_t tick);
  bool has_descriptor(UpstreamConnection& connection);
  template <class Condition>
  void close_if(Condition&& condition);

  friend class UnderWay;

  std::shared_ptr<UpstreamState> state_;
  const upstream::Server settings_;
  std::shared_ptr<Gauge> in_use_;
  bool was_in_use_ = true;
  std::uint64_t generation_ = 0;
  bool is_retired_ = false;
  std::uint32_t active_ = 0;
  std::vector<Idle> idle_;      ///< the ones given back last at the end
  std::vector<Idle> quiet_;     ///< idle, and found quiet in a pass
  std::uint64_t quiet_in_ = 0;  ///< that pass
  Addresses addresses_;
  Ejection ejection_;
  Health health_{1, 1};
  error_code lookup_error_;
  std::string last_error_;
  bool looking_up_ = false;
  bool was_connected_ = false;   ///< since the last lookup
  std::vector<Timer*> waiting_;  ///< for the lookup
};

/// A request in progress at a server, for as long as this lives.
class UnderWay {
 public:
  explicit UnderWay(UpstreamServer& server) : active_(server.active_) { ++active_; }
  ~UnderWay() { --active_; }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

 private:
  std::uint32_t& active_;
};

}  // namespace weir::proxy
