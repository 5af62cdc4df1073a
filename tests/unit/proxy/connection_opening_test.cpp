// The start of a connection on a listener with a PROXY header or TLS.
#include "proxy/connection_opening.hpp"

#include <csignal>

#include "catch.hpp"
#include "unit/proxy/scripted_client.hpp"
#include "unit/proxy/world.hpp"
#include "unit/store/fake_store.hpp"
#include "unit/tls/made_certificate.hpp"

namespace weir::proxy::test {
namespace {

using namespace std::chrono_literals;
using OpeningOutcome = ConnectionOpening::Outcome;

/// A connection from a trusted proxy.
class Opened {
 public:
  Opened() : Opened(socket_pair()) {}
  ~Opened() {
    connection.watchdog.abort();
    world.run_until([&] { return !is_running || outcome; });
  }

  void start(const ListenerOptions& its_options) {
    options = its_options;
    is_running = true;
    connection.watchdog.arm(Phase::open, 5s);
    loop::spawn(world.io, note_result(opening.run(options), outcome));
    world.poll();
  }
  OpeningOutcome finish() {
    world.run_until([&] { return outcome.has_value(); });
    return *outcome;
  }
  /// Reads the bytes that the opening has left on the socket.
  std::string unread() {
    std::array<char, 64> bytes{};
    const ssize_t size =
        ::recv(connection.stream.socket().native(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    return {bytes.data(), size < 0 ? 0 : static_cast<std::size_t>(size)};
  }

  store::test::FakeStore store;
  World world;
  FarEnd far;
  ListenerConnections listener;
  ClientConnection connection;
  ConnectionOpening opening{connection};
  ListenerOptions options;
  std::vector<std::string> warnings;
  bool is_running = false;
  std::optional<OpeningOutcome> outcome;

 private:
  explicit Opened(std::array<int, 2> ends)
      : world(settings(), store),
        far(ends[1]),
        connection(world.context, listener, loop::Descriptor(ends[0]),
                   IpAddress::v4({192, 0, 2, 1})) {
    std::signal(SIGPIPE, SIG_IGN);  // as in the server: OpenSSL writes without MSG_NOSIGNAL
    world.context.log = [this](const std::string& text) { warnings.push_back(text); };
  }
  static Configuration settings() {
    Configuration settings;
    settings.proxy.client_address.trusted_proxies = {IpPrefix::parse("192.0.2.0/24").value()};
    return settings;
  }
};

const ListenerOptions with_header{.proxy_protocol = true, .tls = nullptr};
constexpr std::string_view header = "PROXY TCP4 198.51.100.7 192.0.2.1 1234 80\r\n";

/// A server context, and a client that trusts it.
struct Secured : Opened {
  Secured() {
    start(
        {.proxy_protocol = false, .tls = tls::ServerContext::load({certificate.files()}).value()});
  }
  /// Performs the handshake as a client on the far end.
  error_code connect() {
    loop::Stream client(world.io, loop::Descriptor(::dup(far.native())));
    std::optional<error_code> result;
    const auto context =
        tls::ClientContext::load(
            {.ca = certificate.files().certificate, .own = {}, .server_name = {}, .verify = true})
            .value();
    loop::spawn(world.io, note_result(client.connect_tls(context, "one.test"), result));
    world.run_until([&] { return result.has_value() && outcome.has_value(); });
    return *result;
  }

  const tls::test::MadeCertificate certificate{"one.test"};
};

}  // namespace

TEST_CASE("A PROXY header is read to its last byte and no further, and its source is the peer") {
  Opened opened;
  SECTION("in one piece, with what follows") {
    opened.far.send(std::string(header) + "GET / ");
    opened.start(with_header);
    CHECK(opened.finish() == OpeningOutcome::ready);
    CHECK(opened.unread() == "GET / ");
  }
  SECTION("byte by byte") {
    opened.start(with_header);
    for (const char byte : header) {
      CHECK_FALSE(opened.outcome);
      opened.far.send({&byte, 1});
      opened.world.poll();
    }
    CHECK(opened.finish() == OpeningOutcome::ready);
    CHECK(opened.unread().empty());
  }
  CHECK(opened.connection.peer == IpAddress::v4({198, 51, 100, 7}));
  CHECK(opened.warnings.empty());
}

TEST_CASE("A header without a source leaves the peer as it is") {
  Opened opened;
  opened.far.send("PROXY UNKNOWN\r\n");
  opened.start(with_header);
  CHECK(opened.finish() == OpeningOutcome::ready);
  CHECK(opened.connection.peer == IpAddress::v4({192, 0, 2, 1}));
}

TEST_CASE("A connection without a valid PROXY header of a trusted proxy is closed") {
  Opened opened;
  std::string warning;
  SECTION("not trusted") {
    opened.connection.peer = IpAddress::v4({198, 51, 100, 1});
    opened.far.send(header);
    opened.start(with_header);
    warning =
        "closed a connection from 198.51.100.1, who is no trusted proxy, where the PROXY protocol "
        "is required";
  }
  SECTION("not a header") {
    opened.far.send("GET / HTTP/1.1\r\n\r\n");
    opened.start(with_header);
    warning = "closed a connection from 192.0.2.1 without a valid PROXY header";
  }
  SECTION("it ends early") {
    opened.far.send(header.substr(0, 20));
    opened.start(with_header);
    opened.far.close();
  }
  SECTION("it is late") {
    opened.start(with_header);
    opened.far.send(header.substr(0, 20));
    opened.world.tick(4'900ms);
    CHECK_FALSE(opened.outcome);
    opened.world.tick(300ms);
  }
  SECTION("an abort") {
    opened.start(with_header);
    opened.connection.watchdog.abort();
  }
  CHECK(opened.finish() == OpeningOutcome::closed);
  if (warning.empty()) {
    CHECK(opened.warnings.empty());
  } else {
    CHECK(opened.warnings == std::vector{warning});
  }
}

TEST_CASE("A TLS handshake makes the stream secure") {
  Secured secured;
  CHECK_FALSE(secured.outcome);
  CHECK_FALSE(secured.connect());
  CHECK(secured.finish() == OpeningOutcome::ready);
  CHECK(secured.connection.stream.is_secure());
  CHECK(secured.world.traffic.handshakes.completed.value() == 1);
  CHECK(secured.world.traffic.handshakes.in_progress.value() == 0);
}

TEST_CASE("A letter where TLS is expected begins a plain request, which stays unread") {
  Secured secured;
  secured.far.send("GET");
  CHECK(secured.finish() == OpeningOutcome::plain);
  CHECK(secured.unread() == "GET");
  CHECK_FALSE(secured.connection.stream.is_secure());
  CHECK(secured.world.traffic.handshakes.failed.value() == 0);
}

TEST_CASE("A connection that does not complete a handshake is closed") {
  Secured secured;
  auto& handshakes = secured.world.traffic.handshakes;
  SECTION("it ends before a byte: no handshake") {
    secured.far.close();
    CHECK(secured.finish() == OpeningOutcome::closed);
    CHECK(handshakes.failed.value() == 0);
  }
  SECTION("neither a letter nor TLS") {
    secured.far.send(std::string(64, '\x7f'));
    CHECK(secured.finish() == OpeningOutcome::closed);
    CHECK(handshakes.failed.value() == 1);
  }
  SECTION("nothing arrives in time: no handshake") {
    secured.world.tick(5'300ms);
    CHECK(secured.finish() == OpeningOutcome::closed);
    CHECK(handshakes.timed_out.value() == 0);
  }
  CHECK(handshakes.completed.value() == 0);
  CHECK(handshakes.in_progress.value() == 0);
}

}  // namespace weir::proxy::test
