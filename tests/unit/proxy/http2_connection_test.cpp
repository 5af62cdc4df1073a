// The order in which the requests of HTTP/2 are served beside those of other connections.
#include "catch.hpp"
#include "proxy/downstream_connection.hpp"
#include "unit/http2/scripted_client.hpp"
#include "unit/proxy/world.hpp"
#include "unit/store/fake_store.hpp"

namespace weir::proxy::test {
namespace {

TEST_CASE("A burst of requests on a connection does not hold up another one") {
  constexpr std::uint32_t burst_size = 100;
  store::test::FakeStore store;
  World world({}, store);  // without a route: it answers 404
  ListenerConnections listener;
  const auto connect = [&] {
    const auto ends = socket_pair();
    DownstreamConnection::start(world.context, listener, loop::Descriptor(ends[0]),
                                IpAddress::v4({192, 0, 2, 1}), {});
    return ends[1];
  };
  const auto answered = [&] { return world.counters->routes.back()->by_status[304].value(); };
  FarEnd greedy(connect());
  FarEnd modest(connect());
  greedy.send(http2::test::preface);
  world.poll();

  std::string burst;
  for (std::uint32_t i = 0; i < burst_size; ++i)
    burst += http2::test::request(2 * i + 1);
  greedy.send(burst);
  modest.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  std::string answer;
  std::uint64_t answered_before = 0;
  world.io.restart();
  while (answer.empty() && world.io.poll_one() != 0) {
    answered_before = answered();
    answer = modest.receive();
  }
  CHECK(answer.starts_with("HTTP/1.1 404 "));
  CHECK(answered_before > 1);  // the burst was read first
  CHECK(answered_before < burst_size / 4);
  world.poll();
  CHECK(answered() == burst_size + 1);
  greedy.close();
  modest.close();
  world.run_until([&] { return listener.count == 0; });
}

/// A connection of a client to a worker without a route, which answers 404.
struct Connected {
  Connected() : far(start()) {}
  int start() {
    const auto ends = socket_pair();
    DownstreamConnection::start(world.context, listener, loop::Descriptor(ends[0]),
                                IpAddress::v4({192, 0, 2, 1}), {});
    return ends[1];
  }
  std::uint64_t answered() { return world.counters->routes.back()->by_status[304].value(); }
  /// Sends so many bytes in pieces of 16 KiB. Returns those that were taken, all without an error.
  std::size_t send(std::size_t size) {
    const std::string piece(16384, '\0');
    std::size_t sent = 0;
    for (; sent < size && listener.count == 1; world.poll()) {
      const ssize_t n = ::send(far.native(), piece.data(), piece.size(), MSG_NOSIGNAL);
      if (n > 0) sent += static_cast<std::size_t>(n);
    }
    return sent;
  }

  store::test::FakeStore store;
  World world{{}, store};
  ListenerConnections listener;
  FarEnd far;
};

TEST_CASE("A request whose fault comes in the first read is not served") {
  using namespace http2::test;
  Connected client;
  client.far.send(preface + http2::test::request(1, literal("content-length", "1"), 0) +
                  frame(NGHTTP2_DATA, 0, 1, "xx") + http2::test::request(3));
  client.world.poll();
  CHECK(client.answered() == 1);
  CHECK(reset_in(client.far.receive()) == NGHTTP2_PROTOCOL_ERROR);
  client.far.close();
  client.world.run_until([&] { return client.listener.count == 0; });
}

TEST_CASE("The rest of a connection is dropped up to a bound, which is smaller after a fault") {
  using namespace http2::test;
  constexpr std::size_t kib = 1024;
  Connected client;
  SECTION("a fault of the connection") {
    client.far.send(preface + frame(NGHTTP2_DATA, 0, 0, "x"));
    client.world.poll();
    CHECK(client.send(512 * kib) <= 80 * kib);
    CHECK(goaway_in(client.far.receive()) == NGHTTP2_PROTOCOL_ERROR);
  }
  SECTION("the body of a request that was answered") {
    client.far.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n");
    client.world.poll();
    CHECK(client.send(512 * kib) == 512 * kib);
    CHECK(client.send(1024 * kib) < 800 * kib);
  }
  CHECK(client.listener.count == 0);
}

}  // namespace
}  // namespace weir::proxy::test
