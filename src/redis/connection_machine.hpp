// Decides what the connection to Redis does next: look the name up, connect to an address, send
// the handshake, wait before the next attempt, give up. Events and the time go in, actions come
// out. Pure: no socket, no timer, no clock. `redis::Connection` carries the actions out. States:
//
//   stopped -> waiting -> resolving -> opening -> securing -> introducing -> loading -> ready
//                 ^           |           ^          |  rediss only   |          |        |
//                 |           |           +----------+-- next address-+----------+        |
//                 +-----------+---- failure: a pause of retry_after() --------------------+
//
// One attempt takes at most options.connect_timeout, from the lookup to the last reply of the
// handshake; the addresses of a name share what the lookup leaves of it. Events that do not fit
// the state, such as a late answer to a lookup, change nothing. Not thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/connect_attempt.hpp"
#include "options/redis.hpp"
#include "redis/backoff.hpp"
#include "redis/handshake.hpp"
#include "redis/script_set.hpp"
#include "store/error.hpp"

namespace weir::redis {

class ConnectionMachine {
 public:
  using Time = std::chrono::steady_clock::time_point;

  enum class State : std::uint8_t {
    stopped,      ///< until start() and after stop()
    waiting,      ///< for the next attempt
    resolving,    ///< the name is being looked up
    opening,      ///< a socket is being made
    securing,     ///< TLS is being started
    introducing,  ///< AUTH, CLIENT SETNAME, SELECT and ROLE are sent
    loading,      ///< the scripts are sent
    ready,
  };

  /// Why a connection ended.
  enum class Cause : std::uint8_t {
    connection,  ///< it could not be made, or was closed
    reply,       ///< a reply could not be parsed or was too large
    tls,
  };

  enum class Report : std::uint8_t {
    none,
    ready,   ///< connected, authenticated, scripts loaded
    failed,  ///< an attempt or the connection ended; last_error() has the reason
  };

  /// The caller carries these out in the order of the members.
  struct Actions {
    /// End the current lookup and connection, without a further event.
    bool close = false;
    /// Call on_deadline() at this time; a later value replaces it, `nullopt` disarms the timer.
    std::optional<Time> wake_at = {};
    /// Look the host up: on_resolved() or on_resolve_failed() follows.
    bool resolve = false;
    /// Open a socket to this address of the lookup, or to the only address (a unix socket, an
    /// address in the configuration): on_opened() or on_open_failed() follows.
    std::optional<std::size_t> connect = {};
    /// Start TLS on the socket: on_tls_started() or on_open_failed() follows.
    bool start_tls = false;
    /// Send these: on_reply() follows for each. Valid until the next event.
    Handshake::Commands send = {};
    Report report = Report::none;
  };

  /// `options`, `scripts` and `shas` must outlive this. `shas` receives the SHAs of the scripts.
  /// `seed`: of the jitter.
  ConnectionMachine(const options::Redis& options, const std::vector<std::string>& scripts,
                    ScriptShas& shas, std::uint64_t seed);

  [[nodiscard]] Actions start(Time now);
  [[nodiscard]] Actions stop();
  /// Ends a connection, or an attempt that has an address: its server does not answer, does not
  /// decide, or is not to be used. `why` is for last_error().
  [[nodiscard]] Actions give_up(std::string_view why, Time now);

  [[nodiscard]] Actions on_deadline(Time now);
  /// The lookup found this many addresses; they are tried in its order. `server`: for last_error(),
  /// if it is another server than that of the options.
  [[nodiscard]] Actions on_resolved(std::size_t addresses, Time now, std::string server = {});
  [[nodiscard]] Actions on_resolve_failed(std::string_view why, Time now);
  /// The socket exists and takes commands; it may still be connecting.
  [[nodiscard]] Actions on_opened();
  /// The server has accepted the connection to the present address.
  void on_accepted() { is_accepted_ = true; }
  [[nodiscard]] Actions on_tls_started();
  /// There is no socket, or TLS cannot be started on it.
  [[nodiscard]] Actions on_open_failed(std::string_view why, Time now);
  [[nodiscard]] Actions on_reply(const HandshakeReply& reply, Time now);
  /// The connection ended or could not be made; an empty `why` means unsolicited data.
  [[nodiscard]] Actions on_closed(std::string_view why, Time now, Cause cause = Cause::connection);
  /// The server sent data that answers no command.
  [[nodiscard]] Actions on_unsolicited(Time now);

  /// The caller cannot handle an event or carry out an action, for lack of memory: the attempt or
  /// the connection has failed, if there is one. Allocates nothing, so a long `why` is cut.
  [[nodiscard]] Actions on_exception(std::string_view why, Time now) noexcept;

  State state() const { return state_; }
  /// The reason of the last failure, with the server's address; empty while ready. Never contains
  /// the password.
  const std::string& last_error() const { return last_error_; }
  /// The kind of the last failure: `refused` if the server refuses the user or the password,
  /// `other` if its replies are not those of Redis, `loading` or another kind if it returned such
  /// an error, else `not_connected`. `none` while ready.
  store::Error last_failure() const { return last_failure_; }

 private:
  Actions unchanged() const { return {.wake_at = wake_at_}; }
  Actions attempt(Time now);
  Actions connect_next(Time now);
  Actions introduce();
  Actions become_ready(Time now);
  Actions address_failed(std::string_view why, Time now, store::Error error);
  Actions fail(std::string_view why, Time now, store::Error error = store::Error::not_connected);
  Actions pause(store::Error error, Time now);

  const options::Redis& options_;
  std::string server_;  ///< for last_error()
  const bool needs_lookup_;
  Backoff backoff_;
  ConnectAttempt attempt_;
  Handshake handshake_;

  State state_ = State::stopped;
  std::optional<Time> wake_at_;
  Time ready_at_;
  std::string last_error_;
  store::Error last_failure_ = store::Error::none;
  bool is_accepted_ = false;  ///< the server has accepted the connection of this attempt
};

}  // namespace weir::redis
