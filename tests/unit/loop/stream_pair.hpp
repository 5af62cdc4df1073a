// A stream whose other end the test controls, and a loop that runs until nothing is ready.
#pragma once

#include <array>
#include <cerrno>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include "catch.hpp"
#include "loop/stream.hpp"

namespace weir::loop::test {

/// The far end of a connection, which never blocks.
class FarEnd {
 public:
  explicit FarEnd(int descriptor) : descriptor_(descriptor) {}
  ~FarEnd() { close(); }
  FarEnd(const FarEnd&) = delete;
  FarEnd& operator=(const FarEnd&) = delete;

  int native() const { return descriptor_; }
  void send(std::string_view data) const {
    REQUIRE(::send(descriptor_, data.data(), data.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(data.size()));
  }
  /// Receives the bytes that have arrived, up to `most`.
  std::string receive(std::size_t most = 1 << 30) {
    std::string all;
    std::array<char, 16384> piece{};
    while (all.size() < most && !has_ended_) {
      const ssize_t n = ::recv(descriptor_, piece.data(), std::min(piece.size(), most - all.size()),
                               MSG_DONTWAIT);
      if (n < 0 && errno == EAGAIN) break;
      if (n <= 0) has_ended_ = true;
      if (n < 0) error_ = errno;
      if (n > 0) all.append(piece.data(), static_cast<std::size_t>(n));
    }
    return all;
  }
  bool has_ended() {
    if (!has_ended_) CHECK(receive().empty());
    return has_ended_;
  }
  int error() const { return error_; }
  void end_sending() const { ::shutdown(descriptor_, SHUT_WR); }
  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

 private:
  int descriptor_;
  bool has_ended_ = false;
  int error_ = 0;
};

inline std::array<int, 2> socket_pair() {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
  return ends;
}

struct StreamPair {
  explicit StreamPair(asio::io_context& io) : StreamPair(io, socket_pair()) {}
  StreamPair(asio::io_context& io, std::array<int, 2> ends)
      : stream(io, Descriptor(ends[0])), far(ends[1]) {}

  Stream stream;
  FarEnd far;
};

inline void run(asio::io_context& io) {
  do {
    io.restart();
  } while (io.poll() > 0);
}

/// Starts to end the sending half; `run` continues it where it waits.
inline void start_shutdown(asio::io_context& io, Stream& stream) {
  const auto end = [](Stream& ended) -> Task<> {
    [[maybe_unused]] const error_code ec = co_await ended.shutdown_send();
  };
  spawn(io, end(stream));
  run(io);
}

/// Larger than the socket accepts at once, with no two parts alike.
inline std::string large_text(std::size_t size = 3'000'000) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i)
    text[i] = static_cast<char>(i * 7 + i / 1000);
  return text;
}

}  // namespace weir::loop::test
