// A connection, plain or TLS, to a client or to an upstream: the one type that connections,
// tunnels and pools use (docs/adr/0015-a-stream-is-plain-or-tls.md).
//
// Reading and writing may go on at the same time, one of each. Used from its worker's loop only.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/compose.hpp>

#include "proxy/cancellable.hpp"
#include "proxy/io.hpp"
#include "tls/channel.hpp"

namespace weir::proxy {

class Handshake;

class Stream final : public Cancellable {
 public:
  explicit Stream(asio::io_context& io) : socket_(io.get_executor()) {}
  explicit Stream(Socket socket) : socket_(std::move(socket)) {}
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// The socket below, to connect and to ask the kernel; bytes pass through the stream alone.
  Socket& socket() { return socket_; }
  bool is_open() const { return socket_.is_open(); }
  bool is_secure() const { return channel_ != nullptr; }

  /// TLS from here on, as the server. The caller bounds the time by cancelling. With a handshake
  /// each step waits for its turn, the first one too, and nothing is allocated before that. The
  /// step may run on another thread.
  Task<error_code> accept_tls(std::shared_ptr<const tls::ServerContext> context,
                              Handshake* handshake = nullptr);
  /// TLS from here on, as the client of `host`.
  Task<error_code> connect_tls(std::shared_ptr<const tls::ClientContext> context,
                               const std::string& host);
  /// Why TLS failed, in words for the log; empty if it did not.
  std::string_view last_error() const;

  /// Reads what has arrived, at least a byte. The end is asio::error::eof; a TLS connection cut
  /// without its closing word is connection_aborted.
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

  /// As async_read_some(), awaited by a task, its error in `ec`. What is probably there is read
  /// at once, without an operation.
  auto read(asio::mutable_buffer to, error_code& ec, bool is_probably_there);

  /// Reads what has arrived, without waiting: would_block if that is nothing, and always over TLS.
  std::size_t try_read(asio::mutable_buffer to, error_code& ec);

  /// Sends what goes without waiting, which is nearly always all. The rest is kept, a copy: then
  /// flush(), before anything else is sent.
  void try_write(std::string_view data, error_code& ec);
  bool has_unsent() const { return !unsent_.empty(); }
  Task<error_code> flush();
  /// Sends all of what stays where it is meanwhile.
  Task<error_code> write(std::string_view data);

  /// Copies what has arrived, which stays unread; plain streams only. An error is would_block if
  /// there is nothing yet, or eof.
  std::size_t peek(asio::mutable_buffer to, error_code& ec);
  /// The socket counts as readable when at least so many bytes have arrived, or no more can
  /// arrive. 1 is the default. Without effect on unix sockets.
  void wait_for_bytes(std::size_t count);
  /// The other side has closed, or its sending half, even if bytes that it sent are unread.
  bool has_left();
  /// Nothing has arrived, not even a part of a TLS record, and the other side has not closed.
  bool is_quiet();
  /// The other side has closed, or its sending half, and nothing it sent before is unread.
  bool has_ended();
  bool has_unread();

  /// Ends what is being waited for: a write under way, and a read unless it has its bytes already,
  /// fail with operation_aborted.
  void cancel() override;
  /// Nothing more is sent: the closing word of TLS, and the end of the sending half.
  void shutdown_send();
  /// Closes so that the other side knows that something is missing.
  void reset();
  /// Closes without a closing word of TLS: at once, or when a lent stream is taken back.
  void close() override;

  /// Another thread uses the stream until take_back(): its descriptor stays open, and on the loop
  /// only close() and cancel() may be called.
  void lend() { is_lent_ = true; }
  void take_back();

 private:
  template <class Waiting>
  class Reading;
  struct SecureRead {
    Stream& stream;
    asio::mutable_buffer to;
    unsigned cancels = stream.cancels_;
    bool posted = false;  ///< the first turn runs inside the call, where nothing may complete
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
  bool is_closing_ = false;  ///< when taken back
  unsigned cancels_ = 0;  ///< for a read that waits for its turn, when the socket waits for nothing
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

/// `Waiting`: the operation, for what was not there.
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
  bool tries_;  ///< then: has read
  std::size_t read_ = 0;
  Waiting waiting_;
};

inline auto Stream::read(asio::mutable_buffer to, error_code& ec, bool is_probably_there) {
  const auto begin = [&] { return async_read_some(to, into(ec)); };
  return Reading<decltype(begin())>(*this, to, ec, is_probably_there, begin);
}

}  // namespace weir::proxy
