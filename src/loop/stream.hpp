// A connection, plain or TLS, to a client or to an upstream: the one type that connections, tunnels
// and pools use (docs/adr/0015-a-stream-is-plain-or-tls.md).
//
// One read and one write may be in progress at the same time. Used from its worker's loop only.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/compose.hpp>

#include "loop/cancellable.hpp"
#include "loop/io.hpp"
#include "tls/channel.hpp"

namespace weir::loop {

class Handshake;

class Stream final : public Cancellable {
 public:
  explicit Stream(asio::io_context& io) : socket_(io.get_executor()) {}
  explicit Stream(Socket socket) : socket_(std::move(socket)) {}
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// The underlying socket, for connecting and for socket options; bytes go through the stream
  /// only.
  Socket& socket() { return socket_; }
  bool is_open() const { return socket_.is_open(); }
  bool is_secure() const { return channel_ != nullptr; }

  /// Starts TLS as the server. The caller limits the time by cancelling. With a handshake each step
  /// waits for its turn, including the first, and nothing is allocated before that. A step may run
  /// on another thread.
  Task<error_code> accept_tls(std::shared_ptr<const tls::ServerContext> context,
                              Handshake* handshake = nullptr);
  /// Starts TLS as a client of `host`.
  Task<error_code> connect_tls(std::shared_ptr<const tls::ClientContext> context,
                               const std::string& host);
  /// The reason why TLS failed, for the log; empty if it did not.
  std::string_view last_error() const;

  /// Reads at least one byte of the data that has arrived. The end is asio::error::eof; a TLS
  /// connection that ends without close_notify is connection_aborted.
  template <class Token>
  auto async_read_some(asio::mutable_buffer to, Token&& token) {
    return asio::async_initiate<Token, void(error_code, std::size_t)>(
        [](auto&& handler, Stream* self, asio::mutable_buffer buffer) {
          if (self->channel_ == nullptr) [[likely]] {
            self->socket_.async_read_some(buffer, std::forward<decltype(handler)>(handler));
          } else {
            asio::async_compose<std::decay_t<decltype(handler)>, void(error_code, std::size_t)>(
                SecureRead{*self, buffer}, handler, self->socket_);
          }
        },
        token, this, to);
  }

  /// Same as async_read_some(), awaited by a task, with the error in `ec`. Data that has probably
  /// arrived is read at once, without an operation.
  auto read(asio::mutable_buffer to, error_code& ec, bool is_probably_there);

  /// Reads without waiting: would_block if nothing has arrived, and always over TLS.
  std::size_t try_read(asio::mutable_buffer to, error_code& ec);

  /// Sends as much as possible without waiting, which is nearly always all. A copy of the rest is
  /// kept: call flush() before sending anything else.
  void try_write(std::string_view data, error_code& ec);
  bool has_unsent() const { return !unsent_.empty(); }
  Task<error_code> flush();
  /// Sends all of `data`, which must stay in place meanwhile.
  Task<error_code> write(std::string_view data);

  /// True if nothing has arrived, not even a part of a TLS record, and the other side has not
  /// closed.
  bool is_quiet();
  /// True if the other side has closed the connection or its sending half, and all its bytes have
  /// been read.
  bool has_ended();
  bool has_unread();

  /// Ends operations that wait: a write in progress fails with operation_aborted, and so does a
  /// read unless it already has its bytes.
  void cancel() override;
  /// Ends sending: sends close_notify of TLS and closes the sending half.
  void shutdown_send();
  /// Closes so that the other side can detect that data is missing.
  void reset();
  /// Closes without a close_notify of TLS: at once, or when a lent stream is taken back.
  void close() override;

  /// Lends the stream to another thread until take_back(): its descriptor stays open, and only
  /// close() and cancel() may be called on the loop.
  void lend() { is_lent_ = true; }
  void take_back();

 private:
  template <class Waiting>
  class Reading;
  struct SecureRead {
    Stream& stream;
    asio::mutable_buffer to;
    unsigned cancels = stream.cancels_;
    bool posted = false;  ///< the first turn runs inside the call, where completion is not allowed
    template <class Self>
    void operator()(Self& self, error_code ec = {});
  };

  template <class Step>
  Task<error_code> shake_hands(Handshake* handshake, Step step);
  std::size_t write_some(std::string_view data, error_code& ec);
  Socket::wait_type wanted_by(tls::Channel::State state) const;

  Socket socket_;
  std::unique_ptr<tls::Channel> channel_;  ///< none: plain
  std::string unsent_;
  Socket::wait_type write_waits_for_ = Socket::wait_write;
  bool is_lent_ = false;
  bool is_closing_ = false;  ///< close when taken back
  unsigned cancels_ = 0;  ///< for a read that waits for its turn while the socket has no operation
};

template <class Self>
void Stream::SecureRead::operator()(Self& self, error_code ec) {
  using State = tls::Channel::State;
  if (!posted) {
    posted = true;
    return asio::post(stream.socket_.get_executor(), std::move(self));
  }
  if (ec || !stream.is_open() || cancels != stream.cancels_)
    return self.complete(error_code(asio::error::operation_aborted), std::size_t{0});
  const auto step = stream.channel_->read(static_cast<char*>(to.data()), to.size());
  switch (step.state) {
    case State::done:
      return self.complete(error_code{}, step.bytes);
    case State::ended:
      return self.complete(error_code(asio::error::eof), std::size_t{0});
    case State::broken:
      return self.complete(error_code(asio::error::connection_aborted), std::size_t{0});
    case State::wants_read:
    case State::wants_write:
      break;
  }
  stream.socket_.async_wait(stream.wanted_by(step.state), std::move(self));
}

/// `Waiting`: the operation used if nothing has arrived.
template <class Waiting>
class Stream::Reading {
 public:
  template <class Begin>
  Reading(Stream& stream, asio::mutable_buffer to, error_code& ec, bool tries, Begin begin)
      : stream_(stream), to_(to), ec_(ec), tries_(tries), waiting_(begin()) {}

  bool await_ready() {
    if (!tries_) return false;
    read_ = stream_.try_read(to_, ec_);
    tries_ = ec_ != asio::error::would_block;
    return tries_;
  }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> task) noexcept {
    waiting_.await_suspend(task);
  }
  std::size_t await_resume() { return tries_ ? read_ : waiting_.await_resume(); }

 private:
  Stream& stream_;
  asio::mutable_buffer to_;
  error_code& ec_;
  bool tries_;  ///< after that: true if it has read
  std::size_t read_ = 0;
  Waiting waiting_;
};

inline auto Stream::read(asio::mutable_buffer to, error_code& ec, bool is_probably_there) {
  const auto begin = [&] { return async_read_some(to, into(ec)); };
  return Reading<decltype(begin())>(*this, to, ec, is_probably_there, begin);
}

}  // namespace weir::loop
