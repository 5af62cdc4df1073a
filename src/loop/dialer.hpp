// Connects a stream of Weir itself to a server: looks the name up, tries its addresses in turn, and
// starts TLS, all before one deadline.
//
// The addresses share the time that is left. For connections such as those to an issuer of keys or
// to a sentinel; upstreams and Redis have their own, which report each address. Not thread-safe:
// one loop.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/connect_attempt.hpp"
#include "base/result.hpp"
#include "loop/lookup.hpp"
#include "loop/stream.hpp"
#include "tls/context.hpp"

namespace weir::loop {

class Dialer {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Server {
    std::string host{};  ///< a name or an address, without brackets
    std::uint16_t port = 0;
    std::string unix_path{};                          ///< connects to this socket instead
    std::shared_ptr<const tls::ClientContext> tls{};  ///< none: plain
  };

  explicit Dialer(asio::io_context& io);
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;

  /// From now on everything ends at `deadline`, as by give_up().
  void set_deadline(Time deadline);
  /// Removes the deadline, until the next set_deadline().
  void clear_deadline() { deadline_.cancel(); }
  /// Returns the problem, or nothing: the stream is connected. After set_deadline().
  Task<std::string> connect(Server server);
  /// Ends what waits: operations of the stream fail, and connect() returns.
  void give_up();
  bool is_over() const { return is_over_; }

  Stream& stream() { return stream_; }
  /// Names what is being done, for failure(): "waiting for the answer".
  void set_phase(std::string_view phase) { phase_ = phase; }
  /// The text of a failure: a timeout, an error of TLS, or else `what` with `ec`.
  std::string failure(std::string_view what, const error_code& ec) const;

 private:
  Task<Result<Addresses>> find_addresses(const Server& server);
  Task<error_code> connect_unix(const std::string& path);
  Task<error_code> connect_any(const Addresses& addresses);
  void cancel_at(ConnectAttempt::Address address);

  asio::io_context& io_;
  Stream stream_;
  ConnectAttempt attempt_;
  Timer deadline_;
  Timer lookup_ends_;                      ///< cancelled by the end of the lookup
  Timer turn_ends_;                        ///< the next address is tried
  std::optional<std::size_t> connecting_;  ///< index of the address
  std::string_view phase_;
  bool is_secure_ = false;
  bool is_over_ = false;  ///< timed out or given up
  Presence presence_;
};

}  // namespace weir::loop
