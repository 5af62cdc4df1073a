#include "loop/stream.hpp"

#include <cerrno>
#include <functional>
#include <poll.h>
#include <sys/socket.h>

#include "loop/handshakes.hpp"

namespace weir::loop {
namespace {

using State = tls::Channel::State;
using HandshakeStep = std::function<State()>;

/// Peeks at one byte: 0 is the end, negative nothing (or an error in errno).
ssize_t peek_byte(const Socket& socket) {
  if (!socket.is_open()) return 0;
  char byte = 0;
  return ::recv(socket.native(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
}

Direction direction_of(State state) {
  return state == State::wants_write ? Direction::write : Direction::read;
}

bool would_block() {
  return errno == EAGAIN || errno == EWOULDBLOCK;
}

}  // namespace

Stream::~Stream() {
  // Sends close_notify, which keeps the TLS session resumable; not after reset() or close().
  if (channel_ && socket_.is_open()) channel_->end();
}

Task<error_code> Stream::accept_tls(std::shared_ptr<const tls::ServerContext> context,
                                    Handshake* handshake) {
  HandshakeStep step = [this, context = std::move(context)] {
    if (!channel_) {
      // The first step is the most expensive, and its response would not be received.
      if (has_left(socket_)) return State::ended;
      channel_ = std::make_unique<tls::Channel>(context, socket_.native());
    }
    return channel_->handshake();
  };
  return shake_hands(handshake, std::move(step));
}

Task<error_code> Stream::connect_tls(const std::shared_ptr<const tls::ClientContext>& context,
                                     const std::string& host) {
  channel_ = std::make_unique<tls::Channel>(context, socket_.native(), host);
  return shake_hands(nullptr, HandshakeStep([this] { return channel_->handshake(); }));
}

template <class Step>
Task<error_code> Stream::shake_hands(Handshake* handshake, Step step) {
  error_code ec;
  State state = State::broken;
  auto work = [&] { state = step(); };
  for (;;) {
    if (!socket_.is_open()) co_return error_code(asio::error::operation_aborted);
    if (handshake == nullptr) {
      work();
    } else if (!co_await handshake->step(work) || !socket_.is_open()) {
      co_return error_code(asio::error::operation_aborted);
    }
    if (state == State::done) co_return error_code{};
    if (state == State::ended || state == State::broken)
      co_return error_code(asio::error::connection_aborted);
    if (!std::exchange(was_lent_, false)) socket_.exhausted(direction_of(state));
    co_await socket_.wait(direction_of(state), ec);
    if (ec) co_return error_code(asio::error::operation_aborted);
  }
}

std::string_view Stream::last_error() const {
  return channel_ ? std::string_view(channel_->last_error()) : std::string_view{};
}

/// What OpenSSL waits for: its last read or write of the descriptor would have blocked.
Direction Stream::wanted_by(State state) {
  socket_.exhausted(direction_of(state));
  return direction_of(state);
}

std::size_t Stream::try_read(asio::mutable_buffer to, error_code& ec) {
  if (!socket_.is_open()) {  // another connection may use its descriptor by now
    ec = asio::error::operation_aborted;
    return 0;
  }
  if (!channel_) return socket_.receive(to, ec);
  const auto step = channel_->read(static_cast<char*>(to.data()), to.size());
  switch (step.state) {
    case State::done:
      ec = {};
      break;
    case State::ended:
      ec = asio::error::eof;
      break;
    case State::broken:
      ec = asio::error::connection_aborted;
      break;
    case State::wants_read:
    case State::wants_write:
      read_awaits_ = wanted_by(step.state);
      ec = asio::error::would_block;
  }
  return step.bytes;
}

/// Sends without waiting. would_block if bytes are left; possibly none was sent.
std::size_t Stream::write_some(std::string_view data, error_code& ec) {
  if (!socket_.is_open()) {
    ec = asio::error::bad_descriptor;
    return 0;
  }
  if (!channel_) return socket_.send(data, ec);
  const auto step = channel_->write(data);
  // OpenSSL may have read data while it looked for a message that it needs.
  if (channel_->holds_unread()) socket_.retry_reader();
  if (step.state == State::ended || step.state == State::broken) {
    ec = asio::error::broken_pipe;
  } else if (step.state != State::done) {
    write_awaits_ = wanted_by(step.state);
    ec = asio::error::would_block;
  }
  return step.bytes;
}

void Stream::try_write(std::string_view data, error_code& ec) {
  ec = {};
  if (!unsent_.empty()) return void(unsent_.append(data));
  const std::size_t sent = write_some(data, ec);
  if (ec && ec != asio::error::would_block) return;
  ec = {};
  if (sent < data.size()) unsent_.assign(data.substr(sent));
}

Task<error_code> Stream::flush() {
  error_code ec;
  std::size_t sent = 0;
  while (socket_.is_open()) {
    sent += write_some(std::string_view(unsent_).substr(sent), ec);
    if ((ec && ec != asio::error::would_block) || sent == unsent_.size()) break;
    co_await socket_.wait(Direction::write, write_awaits_, ec);
    if (ec) break;
  }
  if (!socket_.is_open()) ec = asio::error::operation_aborted;
  if (ec == asio::error::operation_aborted && socket_.is_open()) {
    unsent_.erase(0, sent);
  } else {
    std::string().swap(unsent_);  // frees its memory: rarely needed, and up to 64 KiB
  }
  co_return ec;
}

/// Waits for room and then sends. An operation that sends part after part cannot be cancelled
/// between two parts.
Task<error_code> Stream::write(std::string_view data) {
  error_code ec;
  for (;;) {
    if (!socket_.is_open()) co_return error_code(asio::error::operation_aborted);
    data.remove_prefix(write_some(data, ec));
    if (ec && ec != asio::error::would_block) co_return ec;
    if (data.empty()) co_return error_code{};
    co_await socket_.wait(Direction::write, write_awaits_, ec);
    if (ec) co_return ec;
  }
}

bool Stream::is_quiet() {
  if (channel_) return channel_->is_quiet();
  return socket_.is_quiet() || (peek_byte(socket_) < 0 && would_block());
}

bool Stream::has_ended() {
  if (!socket_.is_open()) return true;
  if (channel_) {
    const State state = channel_->look();
    return state == State::ended || state == State::broken;
  }
  const ssize_t got = peek_byte(socket_);
  return got == 0 || (got < 0 && !would_block());
}

bool Stream::peer_has_closed() {
  if (!socket_.is_open()) return true;
  pollfd events{.fd = socket_.native(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&events, 1, 0) > 0;
}

bool Stream::has_unread() {
  return (channel_ && channel_->holds_unread()) || peek_byte(socket_) > 0;
}

void Stream::cancel() {
  socket_.cancel();
}

Task<error_code> Stream::shutdown_send() {
  error_code ec;
  while (socket_.is_open() && channel_ && channel_->end() == State::wants_write) {
    socket_.exhausted(Direction::write);
    co_await socket_.wait(Direction::write, ec);
    if (ec) co_return ec;
  }
  if (socket_.is_open()) ::shutdown(socket_.native(), SHUT_WR);
  co_return ec;
}

void Stream::reset() {
  if (!socket_.is_open()) return;
  reset_when_closed(socket_.descriptor());
  close();
}

/// An event from now on is for the next step.
void Stream::lend() {
  is_lent_ = was_lent_ = true;
  socket_.emptied();
  socket_.exhausted(Direction::write);
}

void Stream::take_back() {
  is_lent_ = false;
  if (is_closing_) close();
}

void Stream::close() {
  if (is_lent_) return void(is_closing_ = true);
  socket_.close();
}

}  // namespace weir::loop
