#include "loop/socket.hpp"

#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>
#include <optional>
#include <string_view>
#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>

#include "catch.hpp"
#include "unit/loop/stream_pair.hpp"

namespace weir::loop {
namespace {

using test::run;
using Endpoint = asio::generic::stream_protocol::endpoint;

/// A socket that listens on a free port of 127.0.0.1, or only has one.
struct Port {
  explicit Port(asio::io_context& io, bool listens = true)
      : socket(io, Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0))) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(socket.native(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    if (listens) REQUIRE(::listen(socket.native(), 8) == 0);
    socklen_t size = sizeof address;
    ::getsockname(socket.native(), reinterpret_cast<sockaddr*>(&address), &size);
    endpoint =
        asio::ip::tcp::endpoint(asio::ip::make_address("127.0.0.1"), ntohs(address.sin_port));
  }
  Socket socket;
  Endpoint endpoint;
};

Task<> note(Task<error_code> task, std::optional<error_code>& to) {
  to = co_await std::move(task);
}

TEST_CASE("connect() and accept()") {
  asio::io_context io;
  Port port(io);
  sockaddr_storage peer{};
  error_code ec;
  CHECK_FALSE(port.socket.accept(peer, ec).is_open());
  CHECK(ec == asio::error::would_block);

  Socket client(io);
  client.open(AF_INET, ec);
  REQUIRE_FALSE(ec);
  std::optional<error_code> connected;
  spawn(io, note(client.connect(port.endpoint), connected));
  io.run();
  CHECK(connected == error_code{});

  const Descriptor accepted = port.socket.accept(peer, ec);
  CHECK_FALSE(ec);
  REQUIRE(accepted.is_open());
  CHECK(peer.ss_family == AF_INET);
  REQUIRE(::send(accepted.native(), "a", 1, 0) == 1);
  std::array<char, 4> room{};
  auto wait = [](Socket& socket, error_code& error) -> Task<> {
    co_await socket.wait(Direction::read, error);
  };
  spawn(io, wait(client, ec));
  io.restart();
  io.run();
  CHECK(client.receive(asio::buffer(room), ec) == 1);
}

TEST_CASE("connect() to a port without a listener") {
  asio::io_context io;
  Port port(io, false);
  Socket client(io);
  error_code ec;
  client.open(AF_INET, ec);
  std::optional<error_code> connected;
  spawn(io, note(client.connect(port.endpoint), connected));
  io.run();
  CHECK(connected == asio::error::connection_refused);
}

TEST_CASE("an unknown family is an error") {
  asio::io_context io;
  Socket socket(io);
  error_code ec;
  socket.open(9999, ec);
  CHECK(ec);
  CHECK_FALSE(socket.is_open());
}

TEST_CASE("a socket that is opened again has no state of the previous one") {
  asio::io_context io;
  const auto first = test::socket_pair();
  const auto second = test::socket_pair();
  const Descriptor far_first(first[1]);
  const Descriptor far_second(second[1]);
  Socket socket(io, Descriptor(first[0]));
  std::array<char, 4> room{};
  error_code ec;
  socket.receive(asio::buffer(room), ec);
  CHECK_FALSE(socket.is_ready(Direction::read));
  socket.assign(Descriptor(second[0]));
  CHECK(socket.is_ready(Direction::read));
}

TEST_CASE("send() sends what fits") {
  asio::io_context io;
  test::StreamPair pair(io);
  const std::string text = test::large_text();
  error_code ec;
  const std::size_t sent = pair.stream.socket().send(text, ec);
  CHECK_FALSE(ec);
  CHECK(sent > 0);
  CHECK(sent < text.size());
  CHECK(pair.stream.socket().send(text, ec) == 0);
  CHECK(ec == asio::error::would_block);
  pair.far.close();
  CHECK(pair.stream.socket().send(text, ec) == 0);
  CHECK(ec == asio::error::broken_pipe);
}

using test::StreamPair;

struct Peeked {
  std::size_t size = 0;
  error_code ec;
};

Peeked peek_at(StreamPair& pair, std::array<char, 4>& to) {
  Peeked peeked;
  peeked.size = peek(pair.stream.socket(), asio::buffer(to), peeked.ec);
  return peeked;
}

TEST_CASE("peek() copies what has arrived and leaves it") {
  asio::io_context io;
  StreamPair pair(io);
  std::array<char, 4> bytes{};
  CHECK(peek_at(pair, bytes).ec == asio::error::would_block);
  pair.far.send("abcdef");
  for (int i = 0; i < 2; ++i) {
    const Peeked peeked = peek_at(pair, bytes);
    CHECK_FALSE(peeked.ec);
    CHECK(std::string_view(bytes.data(), peeked.size) == "abcd");
  }
}

TEST_CASE("peek() at the end is eof") {
  asio::io_context io;
  StreamPair pair(io);
  pair.far.close();
  std::array<char, 4> bytes{};
  CHECK(peek_at(pair, bytes).ec == asio::error::eof);
}

TEST_CASE("has_left() is true as soon as the other side has ended, even with bytes unread") {
  asio::io_context io;
  StreamPair pair(io);
  CHECK_FALSE(has_left(pair.stream.socket()));
  pair.far.send("a");
  CHECK_FALSE(has_left(pair.stream.socket()));
  pair.far.close();
  CHECK(has_left(pair.stream.socket()));
}

}  // namespace
}  // namespace weir::loop
