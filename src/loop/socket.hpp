// A stream socket of any family (TCP or unix) that never blocks.
//
// One read and one write may wait at the same time. Not thread-safe: one loop.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <sys/socket.h>

#include "loop/descriptor.hpp"
#include "loop/io.hpp"
#include "loop/poller.hpp"

namespace weir::loop {

class Socket {
 public:
  explicit Socket(asio::io_context& io) : polled_(asio::use_service<Poller>(io)) {}
  /// `descriptor`: of a non-blocking socket.
  Socket(asio::io_context& io, Descriptor descriptor) : Socket(io) {
    descriptor_ = std::move(descriptor);
  }
  ~Socket() { close(); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  bool is_open() const { return descriptor_.is_open(); }
  int native() const { return descriptor_.native(); }
  const Descriptor& descriptor() const { return descriptor_; }
  /// Opens a new socket of this family; an earlier one is closed.
  void open(int family, error_code& ec);
  /// Uses this socket from now on; an earlier one is closed.
  void assign(Descriptor descriptor);
  /// Operations that wait end with operation_aborted.
  void close();
  void cancel() { polled_.cancel(); }

  void set_priority(Priority priority) { polled_.set_priority(priority); }

  /// Reads what has arrived. The error is would_block if that is nothing, or eof at the end.
  std::size_t receive(asio::mutable_buffer to, error_code& ec);
  /// Sends what fits. The error is would_block if that is nothing.
  std::size_t send(std::string_view data, error_code& ec);
  /// Accepts a connection at a listening socket; it does not block. The error is would_block if
  /// none waits.
  Descriptor accept(sockaddr_storage& peer, error_code& ec);
  /// Records that a call on the descriptor, such as SSL_read, would have blocked.
  void exhausted(Direction direction) { polled_.exhausted(direction); }
  /// Records that all data that had arrived was read or seen, so wait() waits for more.
  void emptied() { polled_.emptied(); }
  /// Data may have arrived that the loop has not seen yet: the next receive() makes a system call.
  void look_again() { polled_.look_again(); }
  bool is_ready(Direction direction) const { return polled_.is_ready(direction); }
  bool is_quiet() const { return polled_.is_quiet(); }
  void retry_reader() { polled_.retry_reader(); }

  class Wait;
  /// Awaitable: until the socket is ready, as far as is known. `role`: TLS may have to read in
  /// order to write, beside a reader.
  Wait wait(Direction direction, error_code& ec);
  Wait wait(Direction role, Direction awaited, error_code& ec);
  /// Awaitable: an operation that waits.
  void start(Direction role, Direction awaited, PendingOperation& operation, Suspended task) {
    polled_.start(native(), role, awaited, operation, std::move(task));
  }

  /// Resumes the task of an operation that is complete, after everything that is ready has run.
  void resume_later(PendingOperation& operation, Suspended task) {
    polled_.resume_later(operation, std::move(task));
  }

  Task<error_code> connect(asio::generic::stream_protocol::endpoint to);

 private:
  Descriptor descriptor_;
  PolledSocket polled_;
  bool accepts_ = false;  ///< a listening socket, which workers may share
};

class Socket::Wait final : private PendingOperation {
 public:
  Wait(Socket& socket, Direction role, Direction awaited, error_code& ec)
      : PendingOperation(ec), socket_(socket), role_(role), awaited_(awaited) {
    ec = {};
  }

  bool await_ready() const noexcept { return socket_.is_ready(awaited_); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> task) noexcept {
    socket_.start(role_, awaited_, *this, Suspended(task));
  }
  void await_resume() const noexcept {}

 private:
  std::optional<Direction> perform() override { return {}; }

  Socket& socket_;
  Direction role_;
  Direction awaited_;
};

inline Socket::Wait Socket::wait(Direction direction, error_code& ec) {
  return {*this, direction, direction, ec};
}

inline Socket::Wait Socket::wait(Direction role, Direction awaited, error_code& ec) {
  return {*this, role, awaited, ec};
}

/// Copies the bytes that have arrived and leaves them unread. The error is would_block if nothing
/// has arrived yet, or eof.
std::size_t peek(const Socket& socket, asio::mutable_buffer to, error_code& ec);

/// The socket counts as readable when at least so many bytes have arrived, or no more can arrive.
/// 1 is the default. Without effect on unix sockets.
void wait_for_bytes(const Socket& socket, std::size_t count);

/// The connection will be reset when the socket is closed. A reset leaves no TIME_WAIT state
/// behind.
void reset_when_closed(const Descriptor& socket);

/// True if the other side has closed the connection or its sending half, even if bytes from it are
/// unread.
bool has_left(const Socket& socket);

}  // namespace weir::loop
