// The connection to the server, made again whenever it ends: names resolved anew, every address
// tried, the handshake said, each attempt bounded by connect_timeout, with growing pauses between.
//
// Used on the loop only. Sends nothing twice and keeps nothing for later: what was sent when it
// ends is lost, and its recipients are told so.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/ip/tcp.hpp>

#include "redis/handshake.hpp"
#include "redis/hiredis_adapter.hpp"
#include "redis/loop_io.hpp"
#include "redis/options.hpp"
#include "redis/receiver.hpp"

struct redisReply;

namespace weir::redis {

/// Of a command that was sent; told once, from the loop.
class Recipient {
 public:
  virtual void on_reply(const redisReply& reply) = 0;
  /// The connection ended first. Must call nobody who might use this connection.
  virtual void on_loss(StoreError why) = 0;

 protected:
  ~Recipient() = default;
};

class Connection final : public HiredisAdapter::Owner {
 public:
  class Owner {
   public:
    virtual void on_ready() = 0;
    /// An attempt or the connection has failed; trouble() says why.
    virtual void on_failure() = 0;

   protected:
    ~Owner() = default;
  };

  Connection(asio::io_context& io, const Options& options, const std::vector<std::string>& scripts,
             std::uint64_t seed, Owner& owner);
  ~Connection();

  void start();
  void stop();
  /// Gives up the connection it has, if it has one, and makes another after a pause.
  void abandon(const std::string& why);

  bool is_ready() const { return state_ == State::ready; }
  /// By position in `scripts`; empty until the first handshake.
  const std::string& sha(std::size_t script) const { return shas_[script]; }
  const std::string& trouble() const { return trouble_; }

  /// Queues a command, which leaves in this pass of the loop; false: not ready, nothing was done.
  bool send(std::string_view command, Recipient& recipient);
  /// Reads the replies that have come, without waiting for the loop to say so.
  void read_arrived();

 private:
  enum class State : std::uint8_t { stopped, pausing, resolving, connecting, ready };

  struct HandshakeReply final : Recipient {
    HandshakeReply(Connection& its_connection, HandshakeCommand::Step its_step)
        : connection(its_connection), step(its_step) {}
    void on_reply(const redisReply& reply) override { connection.on_handshake(step, reply); }
    void on_loss(StoreError) override {}
    Connection& connection;
    HandshakeCommand::Step step;
  };

  void on_context_end(std::string_view why) override;
  void on_stray_bytes() override;

  void attempt();
  void resolve();
  void connect_next();
  bool open(const asio::ip::tcp::endpoint* address);
  void shake_hands();
  void say(std::size_t count);
  void on_handshake(HandshakeCommand::Step step, const redisReply& reply);
  void address_failed(std::string_view why);
  void fail(std::string_view why, StoreError error = StoreError::other);
  void wake_at(SteadyClock::time_point instant);
  void on_wake();
  void free_context();
  bool append(std::string_view command, Recipient& recipient);

  asio::io_context& io_;
  const Options& options_;
  const std::vector<std::string>& scripts_;
  Owner& owner_;
  std::string place_;  ///< as trouble() names the server
  State state_ = State::stopped;
  std::minstd_rand random_;
  int failures_ = 0;  ///< in a row
  std::string trouble_;

  asio::ip::basic_resolver<asio::ip::tcp, Executor> resolver_;
  Timer timer_;
  std::uint64_t wake_ = 0;  ///< of the timer's and the resolver's waits only the last one counts
  SteadyClock::time_point attempt_until_;
  std::vector<asio::ip::tcp::endpoint> addresses_;  ///< not yet tried, the next one last

  redisAsyncContext* context_ = nullptr;
  std::unique_ptr<HiredisAdapter> adapter_;
  std::vector<HandshakeCommand> handshake_commands_;
  std::vector<HandshakeReply> handshake_;
  std::size_t handshake_replies_ = 0;
  std::size_t scripts_loaded_ = 0;
  std::string optional_error_;  ///< refused a step that it may refuse
  std::vector<std::string> shas_;
  SteadyClock::time_point ready_at_;
  Presence presence_;
};

}  // namespace weir::redis
