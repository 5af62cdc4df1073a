#include "network.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weir::fuzz {
namespace {

/// The kernel raises it to its minimum, about 4 KiB.
constexpr int small_buffer = 1;
constexpr std::int64_t beginning_us = 1'700'000'000'000'000;

}  // namespace

void End::close() {
  if (own_ >= 0) ::close(own_);
  own_ = -1;
  waiting_.clear();
}

void End::reset() {
  auto& known = Network::get().known(other_);
  if (known.end == this) known.is_broken = true;
  close();
}

bool End::move() {
  const bool out = move_out();
  const bool in = move_in();
  return out || in;
}

bool End::move_out() {
  bool moved = false;
  while (own_ >= 0 && !waiting_.empty()) {
    const ssize_t n = ::send(own_, waiting_.data(), waiting_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) return moved;
    moved = true;
    if (n < 0) return waiting_.clear(), moved;  // the proxy has closed
    sent_.append(waiting_, 0, static_cast<std::size_t>(n));
    waiting_.erase(0, static_cast<std::size_t>(n));
  }
  if (own_ >= 0 && ends_) {
    ::shutdown(own_, SHUT_WR);
    ends_ = false;
    moved = true;
  }
  return moved;
}

bool End::move_in() {
  std::array<char, 4096> piece{};
  bool moved = false;
  while (own_ >= 0 && !is_stalled_ && !has_ended_) {
    const ssize_t n = ::recv(own_, piece.data(), piece.size(), MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) return moved;
    moved = true;
    if (n <= 0) has_ended_ = true;
    if (n > 0) received_.append(piece.data(), static_cast<std::size_t>(n));
  }
  return moved;
}

std::size_t End::memory() const {
  return waiting_.capacity() + sent_.capacity() + received_.capacity() + sizeof(End);
}

Network& Network::get() {
  static Network network;
  return network;
}

void Network::reset(bool small_buffers) {
  upstreams_.clear();
  unconnected_.clear();
  known_.clear();
  connecting = Connecting::succeeds;
  small_buffers_ = small_buffers;
  now_us_ = beginning_us;
}

Network::Known& Network::known(int descriptor) {
  const auto index = static_cast<std::size_t>(descriptor);
  if (index >= known_.size()) known_.resize(index + 1);
  return known_[index];
}

std::unique_ptr<End> Network::make_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
    return nullptr;
  for (const int end : ends) {
    if (small_buffers_)
      ::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &small_buffer, sizeof small_buffer);
  }
  auto end = std::make_unique<End>(ends[0], ends[1]);
  known(ends[0]) = {};
  known(ends[1]) = {.end = end.get(), .is_broken = false};
  return end;
}

std::unique_ptr<End> Network::make_client(int& other) {
  auto end = make_pair();
  other = end->other_;
  return end;
}

int Network::socket() {
  auto end = make_pair();
  if (!end) return -1;
  unconnected_.push_back(std::move(end));
  return unconnected_.back()->other_;
}

int Network::connect(int descriptor) {
  const auto found = std::find_if(unconnected_.begin(), unconnected_.end(), [&](const auto& end) {
    return end->other_ == descriptor && known(descriptor).end == end.get();
  });
  errno = ECONNREFUSED;
  if (found == unconnected_.end() || connecting == Connecting::is_refused) return -1;
  if (connecting == Connecting::hangs) {
    // No one reads, so it does not become writable.
    const std::string filler(4096, '.');
    while (::send(descriptor, filler.data(), filler.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
    }
    errno = EINPROGRESS;
    return -1;
  }
  upstreams_.push_back(std::move(*found));
  unconnected_.erase(found);
  return 0;
}

bool Network::is_broken(int descriptor) const {
  const auto index = static_cast<std::size_t>(descriptor);
  return index < known_.size() && known_[index].is_broken;
}

void Network::mark_reset(int descriptor) {
  if (End* const end = known(descriptor).end) end->was_reset_ = true;
}

}  // namespace weir::fuzz

using weir::fuzz::Network;

// The linker replaces the names after __wrap_ by these functions.
extern "C" {

int __real_socket(int, int, int);
int __real_connect(int, const sockaddr*, socklen_t);
int __real_setsockopt(int, int, int, const void*, socklen_t);
ssize_t __real_recv(int, void*, std::size_t, int);
ssize_t __real_send(int, const void*, std::size_t, int);
long __real_syscall(long, long, long, long, long, long, long);

int __wrap_socket(int family, int type, int protocol) {
  if (family != AF_INET) return __real_socket(family, type, protocol);
  return Network::get().socket();
}

int __wrap_connect(int descriptor, const sockaddr* address, socklen_t size) {
  if (address->sa_family != AF_INET) return __real_connect(descriptor, address, size);
  return Network::get().connect(descriptor);
}

int __wrap_setsockopt(int descriptor, int level, int name, const void* value, socklen_t size) {
  if (level == SOL_SOCKET && name == SO_LINGER) {
    const auto* const option = static_cast<const linger*>(value);
    if (option->l_onoff != 0 && option->l_linger == 0) Network::get().mark_reset(descriptor);
  }
  return __real_setsockopt(descriptor, level, name, value, size);
}

ssize_t __wrap_recv(int descriptor, void* to, std::size_t size, int flags) {
  if (!Network::get().is_broken(descriptor)) return __real_recv(descriptor, to, size, flags);
  errno = ECONNRESET;
  return -1;
}

ssize_t __wrap_send(int descriptor, const void* data, std::size_t size, int flags) {
  if (!Network::get().is_broken(descriptor)) return __real_send(descriptor, data, size, flags);
  errno = EPIPE;
  return -1;
}

/// A call of the kernel would not be redirected by the functions above.
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
  if (number == SYS_recvfrom || number == SYS_sendto) std::abort();
  return __real_syscall(number, a, b, c, d, e, f);
}

/// Without it Asio looks at its timers in each turn, by the clock below.
int __wrap_timerfd_create(int, int) {
  errno = ENOSYS;
  return -1;
}

// steady_clock::now(): a time_point is passed as its count. The other clock is libFuzzer's own.
std::int64_t __wrap__ZNSt6chrono3_V212steady_clock3nowEv() {
  return Network::get().now_us() * 1000;
}

}  // extern "C"
