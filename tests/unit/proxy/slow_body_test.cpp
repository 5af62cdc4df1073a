// How long a client may take for the body of a request: the same over both versions of HTTP.
#include "catch.hpp"
#include "proxy/downstream_connection.hpp"
#include "unit/http2/scripted_client.hpp"
#include "unit/proxy/exchanged.hpp"

namespace weir::proxy::test {
namespace {

using namespace std::chrono_literals;

/// A client that sends the begin of a body to a proxy with a body_timeout of one second.
class SlowBody {
 public:
  explicit SlowBody(const std::string& begin) : world(settings(upstream.port()), store) {
    const auto ends = socket_pair();
    client.emplace(ends[1]);
    DownstreamConnection::start(world.context, listener, loop::Descriptor(ends[0]),
                                IpAddress::v4({192, 0, 2, 1}), {});
    client->send(begin);
    world.run_until([this] {
      if (!server) server = upstream.accept();
      if (server) uploaded += server->receive();
      return uploaded.find("\r\n\r\n") != std::string::npos;
    });
    uploaded.clear();
  }
  ~SlowBody() {
    client->close();
    server->close();
    world.context.abort();
    world.run_until([this] { return listener.count == 0; });
  }

  void send(const std::string& bytes) {
    client->send(bytes);
    world.run_until([this, before = uploaded.size()] {
      uploaded += server->receive();
      return uploaded.size() > before;
    });
  }
  std::string answer() { return client->receive(); }

  store::test::FakeStore store;
  TestServer upstream;
  World world;
  ListenerConnections listener;
  std::optional<FarEnd> client;
  std::unique_ptr<FarEnd> server;
  std::string uploaded;

 private:
  static Configuration settings(std::uint16_t port) {
    Configuration settings = settings_for(port);
    settings.proxy.downstream.body_timeout = 1s;
    return settings;
  }
};

std::string http2_post() {
  using namespace http2::test;
  return preface + frame(NGHTTP2_HEADERS, end_headers, 1,
                         literal(":method", "POST") + literal(":scheme", "http") +
                             literal(":path", "/up") + literal(":authority", "a"));
}

constexpr std::string_view timed_out = "\"status\":408";  // in the body of the response

struct Version {
  const char* name;
  std::string begin;
  std::string byte;
};

TEST_CASE("A body that arrives byte by byte is not too slow") {
  const Version versions[] = {
      {"HTTP/1.1, with a length", "POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\n",
       "x"},
      {"HTTP/1.1, in chunks", "POST /up HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
       "1\r\nx\r\n"},
      {"HTTP/2", http2_post(), http2::test::frame(NGHTTP2_DATA, 0, 1, "x")},
  };
  for (const Version& version : versions) {
    CAPTURE(version.name);
    SlowBody body(version.begin);
    body.answer();
    for (int i = 0; i < 20; ++i) {
      body.send(version.byte);
      body.world.tick(900ms);
    }
    CHECK(body.answer().find(timed_out) == std::string::npos);
    body.world.tick(300ms);
    CHECK(body.answer().find(timed_out) != std::string::npos);
  }
}

}  // namespace
}  // namespace weir::proxy::test
