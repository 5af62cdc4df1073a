// The connection to Redis: carries out what a ConnectionMachine decides, with Asio and hiredis.
//
// Reconnects by itself whenever the connection ends. Used on the loop only. Sends nothing twice and
// keeps nothing for later: commands that were sent when the connection ends are lost, and their
// recipients get on_loss(). If there is no memory to handle an event, the attempt or the connection
// has failed, with that as the machine's last_error(): nothing is thrown into hiredis or the loop.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "loop/handler_memory.hpp"
#include "loop/io.hpp"
#include "loop/lookup.hpp"
#include "options/redis.hpp"
#include "redis/connection_machine.hpp"
#include "redis/hiredis_adapter.hpp"
#include "redis/script_set.hpp"
#include "store/error.hpp"

struct redisAsyncContext;
struct redisReply;

namespace weir::redis {

/// How long a server has not replied. Pure; not thread-safe.
class Silence {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `limit`: as long as this is no silence.
  explicit Silence(Duration limit) : limit_(limit) {}

  /// A reply of any kind arrived.
  void on_reply(Time now) { heard_at_ = now; }
  /// Whether no reply arrived for the limit, or none at all.
  bool is_over_limit(Time now) const { return now - heard_at_ >= limit_; }

 private:
  Duration limit_;
  Time heard_at_;
};

/// Counts of the commands and replies on the connections to a server.
struct Traffic {
  std::uint64_t replies = 0;   ///< of any kind, also to a handshake and on earlier connections
  std::size_t unanswered = 0;  ///< commands that were sent and have no reply yet
  Silence silence;             ///< its limit is connect_timeout
};

/// Receives the outcome of one command, once, from the loop. hiredis calls it, through which no
/// exception can pass.
class Recipient {
 public:
  virtual void on_reply(const redisReply& reply) noexcept = 0;
  /// The connection ended first. Must not use this connection, directly or through others.
  /// `text`: why a reply could not be parsed, if `why` is `other`. Valid during the call only.
  virtual void on_loss(store::Error why, std::string_view text) noexcept = 0;

 protected:
  ~Recipient() = default;
};

/// Finds the server to connect to, for topologies in which it is not always the same.
class Locator {
 public:
  struct Located {
    options::RedisServer server;
    loop::Addresses addresses;  ///< of its host
  };
  /// A problem is text for the log: "no sentinel is reachable".
  using Done = std::function<void(Result<Located>)>;

  /// Calls `done` once, later, from the loop, unless cancel() is called before, as the caller does
  /// at `deadline`. One search at a time.
  virtual void locate(std::chrono::steady_clock::time_point deadline, Done done) = 0;
  virtual void cancel() noexcept = 0;
  /// The connection to the server that was located is ready.
  virtual void on_ready() noexcept = 0;

 protected:
  ~Locator() = default;
};

class Connection final : public HiredisAdapter::Owner {
 public:
  class Owner {
   public:
    virtual void on_ready() = 0;
    /// An attempt or the connection has failed; the machine's last_error() has the reason.
    virtual void on_failure() = 0;
    /// Commands are about to be written, and those that are sent in this call are among them. True:
    /// some wait, and this is called again when replies have been read, with `after_replies`.
    virtual bool on_write(bool /*after_replies*/) noexcept { return false; }

   protected:
    ~Owner() = default;
  };

  /// `options`, `scripts` and `shas` must outlive this. `shas` receives the SHAs of the scripts.
  /// `seed`: of the pauses between attempts. `locator`: nullptr if the server is that of `options`.
  Connection(asio::io_context& io, const options::Redis& options,
             const std::vector<std::string>& scripts, ScriptShas& shas, std::uint64_t seed,
             Owner& owner, Locator* locator = nullptr);
  ~Connection();

  void start() noexcept;
  /// Leaves nothing in the loop.
  void stop();
  /// Ends the connection, or the attempt to connect to an address, and makes another after a pause.
  void abandon(std::string_view why) noexcept;
  /// The same in the next pass of the loop, after the replies that have arrived. Without memory for
  /// it nothing is done.
  void abandon_later(std::string_view why) noexcept;

  bool is_ready() const { return machine_.state() == ConnectionMachine::State::ready; }
  /// Ready, but abandon_later() was called.
  bool is_leaving() const { return is_leaving_; }
  const Traffic& traffic() const { return traffic_; }
  /// Has the reason of the last failure.
  const ConnectionMachine& machine() const { return machine_; }

  /// Queues a command, which leaves in this pass of the loop; false: not ready, and the command was
  /// not sent. `asking`: after ASKING.
  bool send(std::string_view command, Recipient& recipient, bool asking = false);
  /// Calls Owner::on_write() when a command that is sent now would leave. Only while ready.
  void write_later() { adapter_->write_later(); }
  /// Reads replies that have arrived, without waiting for the loop to report them.
  void read_arrived();

 private:
  using Actions = ConnectionMachine::Actions;
  using Time = ConnectionMachine::Time;

  /// Receives the replies to the handshake; Redis replies in the order of the commands.
  struct HandshakeRecipient final : Recipient {
    explicit HandshakeRecipient(Connection& its_connection) : connection(its_connection) {}
    void on_reply(const redisReply& reply) noexcept override { connection.on_handshake(reply); }
    void on_loss(store::Error, std::string_view) noexcept override {}
    Connection& connection;
  };

  static void on_command_end(redisAsyncContext* context, void* reply, void* recipient) noexcept;
  bool on_write(bool after_replies) noexcept override {
    return is_ready() && owner_.on_write(after_replies);
  }
  void on_context_end(std::string_view why) noexcept override;
  void on_stray_bytes() noexcept override;
  void on_handshake(const redisReply& reply) noexcept;

  template <class Event>
  void handle(Event&& event) noexcept;
  void recover(std::string_view why) noexcept;
  void perform(const Actions& actions);
  void close();
  void arm(std::optional<std::chrono::steady_clock::time_point> wake_at);
  void resolve(Time until);
  void open(std::size_t address);
  void start_tls();
  bool append(std::string_view command, Recipient& recipient);

  asio::io_context& io_;
  const options::Redis& options_;
  Owner& owner_;
  Locator* const locator_;
  ConnectionMachine machine_;
  Traffic traffic_;

  std::optional<loop::Lookup> lookup_;
  std::string host_;  ///< of the server, for TLS
  loop::Addresses addresses_;
  loop::Timer timer_;
  loop::HandlerMemory timer_handler_;
  /// The expiry of timer_, if it is armed.
  std::optional<std::chrono::steady_clock::time_point> wake_at_;
  bool recovery_posted_ = false;
  loop::HandlerMemory recovery_handler_;

  bool is_leaving_ = false;
  redisAsyncContext* context_ = nullptr;
  std::unique_ptr<HiredisAdapter> adapter_;
  HandshakeRecipient handshake_{*this};
  loop::Presence presence_;
};

}  // namespace weir::redis
