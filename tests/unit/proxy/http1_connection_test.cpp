// How long a connection of HTTP/1 is kept, and what it answers at its end.
#include <algorithm>
#include <csignal>
#include <deque>

#include "catch.hpp"
#include "proxy/downstream_connection.hpp"
#include "unit/proxy/scripted_client.hpp"
#include "unit/proxy/world.hpp"
#include "unit/store/fake_store.hpp"
#include "unit/tls/made_certificate.hpp"

namespace weir::proxy::test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view get_bytes = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

/// Begins connections to a world without a route, which answers 404.
class Server {
 public:
  explicit Server(const options::Downstream& downstream = {}) : world(settings(downstream), store) {
    std::signal(SIGPIPE, SIG_IGN);  // as in the server: OpenSSL writes without MSG_NOSIGNAL
  }
  ~Server() {
    world.context.abort();
    world.run_until([this] { return listener.count == 0; });
  }

  /// Returns the client's end of a new connection.
  loop::Descriptor connect(const ListenerOptions& options) {
    const auto ends = socket_pair();
    DownstreamConnection::start(world.context, listener, loop::Descriptor(ends[0]),
                                IpAddress::v4({192, 0, 2, 1}), options);
    world.poll();
    return loop::Descriptor(ends[1]);
  }
  /// Time passes, but the loop does not run: it is delayed.
  void pass_without_loop(Duration duration) {
    for (Duration passed{0}; passed < duration; passed += 100ms)
      world.context.tick();
  }

  store::test::FakeStore store;
  World world;
  ListenerConnections listener;

 private:
  static Configuration settings(const options::Downstream& downstream) {
    Configuration settings;
    settings.proxy.downstream = downstream;
    return settings;
  }
};

bool is_answer(const std::string& text) {
  return text.starts_with("HTTP/1.1 404 ");
}

bool announces_end(const std::string& text) {
  return text.find("Connection: close\r\n") != std::string::npos;
}

}  // namespace

TEST_CASE("An idle connection is closed at its deadline") {
  Server server;
  FarEnd far(server.connect({}).release());
  server.world.tick(74s);
  far.send(get_bytes);
  server.world.poll();
  CHECK(is_answer(far.receive()));
  server.world.tick(74s);
  CHECK_FALSE(far.has_ended());
  server.world.tick(2s);
  CHECK(far.has_ended());
}

TEST_CASE("A request that arrived before the deadline is answered by a loop that was delayed") {
  Server server;
  FarEnd far(server.connect({}).release());
  SECTION("the first request") {}
  SECTION("a later one") {
    far.send(get_bytes);
    server.world.poll();
    CHECK(is_answer(far.receive()));
  }
  SECTION("the connection is drained") {
    server.world.context.draining = true;
    server.world.context.connections.front()->drain();
  }
  const bool is_drained = server.world.context.draining;
  far.send(get_bytes);
  server.pass_without_loop(77s);
  server.world.poll();
  const std::string answer = far.receive();
  CHECK(is_answer(answer));
  CHECK(announces_end(answer) == is_drained);
  CHECK(far.has_ended() == is_drained);
}

TEST_CASE("An idle TLS connection is read once more at its deadline as well") {
  Server server;
  const tls::test::MadeCertificate certificate{"one.test"};
  loop::Stream client(
      server.world.io,
      server.connect({.proxy_protocol = false,
                      .tls = tls::ServerContext::load({certificate.files()}).value()}));
  std::optional<error_code> connected;
  loop::spawn(server.world.io,
              note_result(client.connect_tls(
                              tls::ClientContext::load({.ca = certificate.files().certificate,
                                                        .own = {},
                                                        .server_name = {},
                                                        .verify = true})
                                  .value(),
                              "one.test"),
                          connected));
  server.world.run_until([&] { return connected.has_value(); });
  REQUIRE_FALSE(*connected);
  server.world.poll();
  error_code ec;
  std::string answer(1000, '\0');
  SECTION("a request has arrived") {
    client.try_write(get_bytes, ec);
    server.pass_without_loop(77s);
    server.world.poll();
    answer.resize(client.try_read(asio::buffer(answer), ec));
    CHECK(is_answer(answer));
  }
  SECTION("nothing has arrived") {
    server.world.tick(77s);
    client.try_read(asio::buffer(answer), ec);
    CHECK(ec == asio::error::eof);
  }
}

TEST_CASE("An idle connection beyond its age is closed after a short grace") {
  Server server({.max_age = 20s});
  FarEnd far(server.connect({}).release());
  server.world.tick(19s);
  far.send(get_bytes);
  server.world.poll();
  CHECK_FALSE(announces_end(far.receive()));
  server.world.tick(2s);
  CHECK_FALSE(far.has_ended());
  SECTION("it stays idle") {
    server.world.tick(1s);
  }
  SECTION("a request was on its way") {
    far.send(get_bytes);
    server.world.poll();
    const std::string answer = far.receive();
    CHECK(is_answer(answer));
    CHECK(announces_end(answer));
  }
  CHECK(far.has_ended());
}

TEST_CASE("Half a head that has begun before the age has its time") {
  Server server({.max_age = 20s});
  FarEnd far(server.connect({}).release());
  server.world.tick(19s);
  far.send(get_bytes.substr(0, 20));
  server.world.tick(5s);
  CHECK_FALSE(far.has_ended());
  far.send(get_bytes.substr(20));
  server.world.poll();
  const std::string answer = far.receive();
  CHECK(is_answer(answer));
  CHECK(announces_end(answer));
}

TEST_CASE("Connections that were opened at the same time do not all end at once") {
  Server server({.idle_timeout = 1h, .max_age = 100s});
  std::deque<FarEnd> clients;
  for (int i = 0; i < 30; ++i)
    clients.emplace_back(server.connect({}).release());
  const auto left_after = [&](Duration duration) {
    server.world.tick(duration);
    return std::ranges::count_if(clients, [](FarEnd& far) { return !far.has_ended(); });
  };
  CHECK(left_after(100s) == 30);
  auto left = left_after(2s);
  for (int second = 102; second < 112; ++second) {
    const auto later = left_after(1s);
    CHECK(later <= left);
    CHECK(left - later <= 5);
    left = later;
  }
  CHECK(left == 0);
}

TEST_CASE("Half a head that arrived in time has the time of a head") {
  Server server;
  FarEnd far(server.connect({}).release());
  far.send("GET / HT");
  server.pass_without_loop(77s);
  server.world.poll();
  server.world.tick(9s);
  CHECK_FALSE(far.has_ended());
  server.world.tick(2s);
  CHECK(far.receive().starts_with("HTTP/1.1 408 "));
}

TEST_CASE("Empty lines do not keep an idle connection beyond its deadline") {
  Server server;
  FarEnd far(server.connect({}).release());
  server.world.tick(74s);
  CHECK_FALSE(far.has_ended());
  for (int i = 0; i < 16; ++i) {
    ::send(far.native(), "\r\n", 2, MSG_NOSIGNAL);
    server.world.tick(100ms);
  }
  CHECK(far.has_ended());
}

TEST_CASE("A bounded number of empty lines before a request is skipped") {
  Server server;
  FarEnd far(server.connect({}).release());
  std::string lines;
  for (int i = 0; i < 16; ++i)
    lines += "\r\n";
  SECTION("at the bound, for each request") {
    for (int i = 0; i < 2; ++i) {
      far.send(lines + std::string(get_bytes));
      server.world.poll();
      CHECK(is_answer(far.receive()));
    }
  }
  SECTION("one more") {
    far.send(lines);
    server.world.poll();
    CHECK(far.receive().empty());
    far.send("\r\n" + std::string(get_bytes));
    server.world.poll();
    CHECK(far.receive().starts_with("HTTP/1.1 400 "));
  }
}

TEST_CASE("A spare exchange serves another connection after one that left in the middle") {
  Server server;
  {
    FarEnd left(server.connect({}).release());
    left.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" +
              std::string(5'000, 'x'));
    server.world.poll();
  }
  server.world.tick(3s);
  FarEnd far(server.connect({}).release());
  for (int i = 0; i < 2; ++i) {
    far.send(get_bytes);
    server.world.poll();
    CHECK(is_answer(far.receive()));
  }
}

}  // namespace weir::proxy::test
