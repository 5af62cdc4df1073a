// A connection of HTTP/2 to a server, which the requests of a worker share: passes bytes between
// the socket and the session.
//
// The frames of all streams leave at the end of a pass of the loop, in one call. A reader keeps the
// connection alive until it ends. Used from its worker's loop only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "http2/client_session.hpp"
#include "upstream/connection.hpp"

namespace weir::upstream {

class Http2Stream;

class Http2Connection : public std::enable_shared_from_this<Http2Connection> {
 public:
  /// `connection` is established, and the server speaks HTTP/2 on it.
  Http2Connection(asio::io_context& io, std::unique_ptr<Connection> connection)
      : io_(io), connection_(std::move(connection)), session_(http2::ClientSessionOptions{}) {}
  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;

  /// Begins to read and to send.
  void start();
  /// True if another stream can be opened now.
  bool can_open() const { return !is_lost_ && session_.can_open(); }
  bool is_lost() const { return is_lost_; }
  /// True if the connection ended because the server broke the protocol.
  bool is_invalid() const { return is_invalid_; }
  bool is_idle() const { return streams_.empty(); }
  /// True if it has no stream and none can be opened.
  bool is_over() const { return is_lost_ || (is_idle() && !can_open()); }

  http2::ClientSession& session() { return session_; }
  void add(Http2Stream& stream);
  void remove(Http2Stream& stream);
  /// Sends what the session has to send, at the end of this pass of the loop.
  void schedule_output();

  /// Takes no more streams, and closes when the last of them has ended.
  void close_when_idle();
  /// The same, but an idle connection is used at least once.
  void close_after_use() { closes_when_idle_ = true; }
  /// Closes at once; the streams in progress end with an error.
  void close() { lose(); }

  const Addresses::Endpoint& endpoint() const { return connection_->endpoint; }
  std::uint64_t received() const { return received_; }  ///< bytes
  /// Called once: when the server has sent its SETTINGS, or the connection has ended.
  std::function<void()> when_settled;
  std::uint64_t idle_since = 0;  ///< tick; set by the owner
  std::uint64_t looks = 0;       ///< of the owner, once a second

 private:
  loop::Task<> read_all(std::shared_ptr<Http2Connection> self);
  void write();
  void write_output();
  loop::Task<> flush(std::shared_ptr<Http2Connection> self);
  void settle();
  void lose();

  asio::io_context& io_;
  std::unique_ptr<Connection> connection_;
  http2::ClientSession session_;
  std::vector<Http2Stream*> streams_;
  std::string output_;
  std::uint64_t received_ = 0;
  bool is_output_due_ = false;
  bool is_flushing_ = false;
  bool closes_when_idle_ = false;
  bool is_lost_ = false;
  bool is_invalid_ = false;
};

}  // namespace weir::upstream
