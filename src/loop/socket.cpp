#include "loop/socket.hpp"

#include <cerrno>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace weir::loop {

namespace {

#if defined(__has_feature)
#define WEIR_IS_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WEIR_IS_SANITIZED true
#else
#define WEIR_IS_SANITIZED false
#endif

// recv(2) and send(2). The functions of the C library are cancellation points: in a process with
// threads, glibc changes the state of the thread with an atomic operation before and after each
// call, 1.4 % of the CPU time of a small message. No thread is cancelled here, so the kernel is
// called directly. Sanitizers check only the functions of the library, and the fuzz target of
// connections replaces them.
#if WEIR_IS_SANITIZED

ssize_t receive_from(int socket, asio::mutable_buffer to) {
  return ::recv(socket, to.data(), to.size(), 0);
}

ssize_t send_to(int socket, std::string_view data) {
  return ::send(socket, data.data(), data.size(), MSG_NOSIGNAL);
}

#else

ssize_t receive_from(int socket, asio::mutable_buffer to) {
  return ::syscall(SYS_recvfrom, socket, to.data(), to.size(), 0, nullptr, nullptr);
}

ssize_t send_to(int socket, std::string_view data) {
  return ::syscall(SYS_sendto, socket, data.data(), data.size(), MSG_NOSIGNAL, nullptr, 0);
}

#endif

error_code last_error() {
  if (errno == EAGAIN) return asio::error::would_block;
  return {errno, boost::system::system_category()};
}

}  // namespace

void Socket::open(int family, error_code& ec) {
  close();
  descriptor_ = Descriptor(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  ec = is_open() ? error_code{} : last_error();
}

void Socket::assign(Descriptor descriptor) {
  close();
  descriptor_ = std::move(descriptor);
}

void Socket::close() {
  polled_.forget(accepts_);
  descriptor_ = {};
}

std::size_t Socket::receive(asio::mutable_buffer to, error_code& ec) {
  ec = asio::error::would_block;
  if (!is_ready(Direction::read)) return 0;
  ssize_t got = 0;
  do {
    got = receive_from(native(), to);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    ec = last_error();
    if (ec == asio::error::would_block) exhausted(Direction::read);
    return 0;
  }
  ec = {};
  const auto size = static_cast<std::size_t>(got);
  if (size == 0 && to.size() > 0) ec = asio::error::eof;
  if (size < to.size()) polled_.emptied();
  return size;
}

std::size_t Socket::send(std::string_view data, error_code& ec) {
  ssize_t sent = 0;
  do {
    sent = send_to(native(), data);
  } while (sent < 0 && errno == EINTR);
  ec = {};
  if (sent >= 0) return static_cast<std::size_t>(sent);
  ec = last_error();
  if (ec == asio::error::would_block) exhausted(Direction::write);
  return 0;
}

Descriptor Socket::accept(sockaddr_storage& peer, error_code& ec) {
  accepts_ = true;
  socklen_t size = sizeof peer;
  Descriptor accepted(
      ::accept4(native(), reinterpret_cast<sockaddr*>(&peer), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  ec = accepted.is_open() ? error_code{} : last_error();
  if (ec == asio::error::would_block) exhausted(Direction::read);
  return accepted;
}

Task<error_code> Socket::connect(asio::generic::stream_protocol::endpoint to) {
  error_code ec;
  if (::connect(native(), to.data(), static_cast<socklen_t>(to.size())) == 0) co_return ec;
  if (errno != EINPROGRESS && errno != EINTR) co_return last_error();
  exhausted(Direction::read);
  exhausted(Direction::write);
  co_await wait(Direction::write, ec);
  if (ec) co_return ec;
  int failure = 0;
  socklen_t size = sizeof failure;
  ::getsockopt(native(), SOL_SOCKET, SO_ERROR, &failure, &size);
  co_return error_code(failure, boost::system::system_category());
}

std::size_t peek(const Socket& socket, asio::mutable_buffer to, error_code& ec) {
  const ssize_t got = ::recv(socket.native(), to.data(), to.size(), MSG_PEEK | MSG_DONTWAIT);
  ec = {};
  if (got == 0) ec = asio::error::eof;
  if (got < 0) ec = error_code(errno, boost::system::system_category());
  return got < 0 ? 0 : static_cast<std::size_t>(got);
}

void wait_for_bytes(const Socket& socket, std::size_t count) {
  const int bytes = static_cast<int>(count);
  ::setsockopt(socket.native(), SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof bytes);
}

void reset_when_closed(const Descriptor& socket) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket.native(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

bool has_left(const Socket& socket) {
  pollfd look{socket.native(), POLLRDHUP, 0};
  return ::poll(&look, 1, 0) > 0;
}

}  // namespace weir::loop
