// A listening socket on the loopback interface that the test controls: it accepts, reads and sends
// only when the test does.
#pragma once

#include <arpa/inet.h>
#include <cstdint>
#include <fcntl.h>
#include <memory>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "catch.hpp"
#include "unit/loop/stream_pair.hpp"

namespace weir::proxy::test {

using loop::test::FarEnd;
using loop::test::large_text;
using loop::test::run;
using loop::test::socket_pair;
using loop::test::StreamPair;

class TestServer {
 public:
  TestServer() {
    const sockaddr_in any = address(0);
    REQUIRE(::bind(descriptor_, as_socket_address(any), sizeof any) == 0);
    REQUIRE(::listen(descriptor_, 16) == 0);
    sockaddr_in bound{};
    socklen_t size = sizeof bound;
    REQUIRE(::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&bound), &size) == 0);
    port_ = ntohs(bound.sin_port);
  }
  ~TestServer() {
    close();
    for (const int waiting : queue_)
      ::close(waiting);
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  std::uint16_t port() const { return port_; }
  /// Returns the connection that has waited longest; nullptr if there is none.
  std::unique_ptr<FarEnd> accept() const {
    const int accepted = ::accept4(descriptor_, nullptr, nullptr, SOCK_NONBLOCK);
    return accepted < 0 ? nullptr : std::make_unique<FarEnd>(accepted);
  }
  /// Refuses connections from now on.
  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }
  /// Fills the kernel's queue, so that connections from now on get no response.
  void fill_queue() {
    REQUIRE(::listen(descriptor_, 0) == 0);
    const sockaddr_in self = address(port_);
    for (int i = 0; i < 4; ++i) {
      queue_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
      if (::connect(queue_.back(), as_socket_address(self), sizeof self) != 0)
        REQUIRE(errno == EINPROGRESS);
    }
  }

 private:
  static sockaddr_in address(std::uint16_t port) {
    sockaddr_in result{};
    result.sin_family = AF_INET;
    result.sin_port = htons(port);
    result.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return result;
  }
  static const sockaddr* as_socket_address(const sockaddr_in& address) {
    return reinterpret_cast<const sockaddr*>(&address);
  }

  int descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  std::uint16_t port_ = 0;
  std::vector<int> queue_;
};

}  // namespace weir::proxy::test
