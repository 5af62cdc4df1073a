// A connection, plain or TLS, to a client or to an upstream: the one type that connections, tunnels
// and pools use (docs/adr/0015-a-stream-is-plain-or-tls.md).
//
// One read and one write may be in progress at the same time. Used from its worker's loop only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "loop/cancellable.hpp"
#include "loop/io.hpp"
#include "loop/socket.hpp"
#include "tls/channel.hpp"

namespace weir::loop {

class Handshake;

/// When a read that need not wait takes its bytes: before or after other tasks run. After them, the
/// tasks of a loop may share the memory they read into, if each uses its bytes before it waits.
enum class ReadTime : std::uint8_t { at_once, last };

class Stream final : public Cancellable {
 public:
  explicit Stream(asio::io_context& io) : socket_(io) {}
  /// `descriptor`: of a connected, non-blocking socket.
  Stream(asio::io_context& io, Descriptor descriptor) : socket_(io, std::move(descriptor)) {}
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// The underlying socket, for connecting and for socket options; bytes go through the stream
  /// only.
  Socket& socket() { return socket_; }
  bool is_open() const { return socket_.is_open(); }
  bool is_secure() const { return channel_ != nullptr; }
  /// Returns the protocol chosen by ALPN; empty: none, or no TLS.
  friend std::string_view alpn_of(const Stream& stream) {
    return stream.channel_ ? stream.channel_->protocol() : std::string_view{};
  }

  /// Starts TLS as the server. The caller limits the time by cancelling. With a handshake each step
  /// waits for its turn, including the first, and nothing is allocated before that. A step may run
  /// on another thread.
  Task<error_code> accept_tls(std::shared_ptr<const tls::ServerContext> context,
                              Handshake* handshake = nullptr);
  /// Starts TLS as a client of `host`.
  Task<error_code> connect_tls(const std::shared_ptr<const tls::ClientContext>& context,
                               const std::string& host);
  /// The reason why TLS failed, for the log; empty if it did not.
  std::string_view last_error() const;

  class Reading;
  /// Awaitable: reads at least one byte of the data that has arrived. The end is asio::error::eof;
  /// a TLS connection that ends without close_notify is connection_aborted. Other tasks run before
  /// this one continues.
  Reading read(asio::mutable_buffer to, error_code& ec, ReadTime time = ReadTime::at_once);
  /// Reads without waiting: would_block if nothing has arrived.
  std::size_t try_read(asio::mutable_buffer to, error_code& ec);

  /// Sends as much as possible without waiting, which is nearly always all. A copy of the rest is
  /// kept: call flush() before sending anything else.
  void try_write(std::string_view data, error_code& ec);
  bool has_unsent() const { return !unsent_.empty(); }
  /// Sends the rest. If it is cancelled, what is left stays, and another call continues.
  Task<error_code> flush();
  /// Sends all of `data`, which must stay in place meanwhile.
  Task<error_code> write(std::string_view data);

  /// True if nothing has arrived, not even a part of a TLS record, and the other side has not
  /// closed.
  bool is_quiet();
  /// True if the other side has closed the connection or its sending half, and all its bytes have
  /// been read.
  bool has_ended();
  /// True if the other side has closed the connection or its sending half, also if some of its
  /// bytes have not been read.
  bool peer_has_closed();
  bool has_unread();

  /// Ends operations that wait: a write in progress fails with operation_aborted, and so does a
  /// read unless it already has its bytes.
  void cancel() override;
  /// Ends sending: closes the sending half, after the close_notify of TLS, which may have to wait.
  /// Call it when nothing is unsent.
  Task<error_code> shutdown_send();
  /// Closes so that the other side can detect that data is missing.
  void reset() override;
  /// Closes without a close_notify of TLS: at once, or when a lent stream is taken back.
  void close() override;

  /// Lends the stream to another thread until take_back(): its descriptor stays open, and only
  /// close() and cancel() may be called on the loop.
  void lend();
  void take_back();

 private:
  template <class Step>
  Task<error_code> shake_hands(Handshake* handshake, Step step);
  std::size_t write_some(std::string_view data, error_code& ec);
  Direction wanted_by(tls::Channel::State state);

  Socket socket_;
  std::unique_ptr<tls::Channel> channel_;  ///< none: plain
  std::string unsent_;
  Direction read_awaits_ = Direction::read;  ///< TLS may have to write first
  Direction write_awaits_ = Direction::write;
  bool is_lent_ = false;
  bool was_lent_ = false;    ///< for the last step of the handshake
  bool is_closing_ = false;  ///< close when taken back
};

class Stream::Reading final : private PendingOperation {
 public:
  Reading(Stream& stream, asio::mutable_buffer to, error_code& ec, ReadTime time)
      : PendingOperation(ec), stream_(stream), to_(to), time_(time) {}

  bool await_ready() {
    const bool is_last = time_ == ReadTime::last && stream_.is_open();
    awaited_ = is_last ? Direction::read : perform();
    return false;
  }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> task) {
    Socket& socket = stream_.socket_;
    if (!awaited_) return socket.resume_later(*this, Suspended(task));
    const bool is_due = time_ == ReadTime::last && may_have_bytes();
    socket.start(Direction::read, *awaited_, *this, Suspended(task));
    if (is_due) socket.retry_reader();
  }
  std::size_t await_resume() const {
    rethrow();
    return read_;
  }

 private:
  std::optional<Direction> perform() override {
    read_ = stream_.try_read(to_, ec_);
    if (ec_ != asio::error::would_block) return {};
    return stream_.read_awaits_;
  }

  bool may_have_bytes() const {
    return stream_.socket_.is_ready(*awaited_) ||
           (stream_.channel_ && stream_.channel_->holds_unread());
  }

  Stream& stream_;
  asio::mutable_buffer to_;
  ReadTime time_;
  std::optional<Direction> awaited_;
  std::size_t read_ = 0;
};

inline Stream::Reading Stream::read(asio::mutable_buffer to, error_code& ec, ReadTime time) {
  return {*this, to, ec, time};
}

}  // namespace weir::loop
