#include "tls/channel.hpp"

#include <array>
#include <csignal>
#include <sys/socket.h>
#include <unistd.h>

#include "catch.hpp"
#include "unit/tls/made_certificate.hpp"

namespace weir::tls {
namespace {

using State = Channel::State;
using test::MadeCertificate;

/// Two ends of a connection that never block.
struct Ends {
  Ends() {
    std::signal(SIGPIPE, SIG_IGN);  // as the server does: OpenSSL writes without MSG_NOSIGNAL
    ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, descriptors.data());
  }
  ~Ends() {
    ::close(descriptors[0]);
    ::close(descriptors[1]);
  }
  std::array<int, 2> descriptors{};
};

struct Pair {
  explicit Pair(const std::string& host = "one.test")
      : server(ServerContext::load({certificate.files()}).value(), ends.descriptors[0]),
        client(ClientContext::load({.ca = certificate.files().certificate,
                                    .own = {},
                                    .server_name = {},
                                    .verify = true})
                   .value(),
               ends.descriptors[1], host) {}

  /// The state the client ends in.
  State shake_hands() {
    for (int turn = 0; turn < 10; ++turn) {
      const State state = client.handshake();
      if (state == State::broken) return state;
      if (server.handshake() == State::done && state == State::done) return state;
    }
    return State::wants_read;
  }

  MadeCertificate certificate{"one.test"};
  Ends ends;
  Channel server;
  Channel client;
};

TEST_CASE("bytes written at one side are read at the other") {
  Pair pair;
  REQUIRE(pair.shake_hands() == State::done);
  std::array<char, 100> got{};
  CHECK(pair.server.read(got.data(), got.size()).state == State::wants_read);
  CHECK(pair.server.look() == State::wants_read);
  CHECK(pair.client.write("hello").bytes == 5);
  CHECK(pair.server.look() == State::done);
  CHECK(pair.server.holds_unread());
  const auto step = pair.server.read(got.data(), got.size());
  CHECK(step.state == State::done);
  CHECK(std::string(got.data(), step.bytes) == "hello");
  CHECK_FALSE(pair.server.holds_unread());
}

TEST_CASE("a partial write continues where it stopped, from another buffer") {
  Pair pair;
  REQUIRE(pair.shake_hands() == State::done);
  std::string data(4'000'000, '\0');
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<char>(i * 7 + i / 1000);
  std::string unsent = data;
  std::string got;
  std::array<char, 50'000> piece{};
  bool did_wait = false;
  while (got.size() < data.size()) {
    const auto sent = pair.client.write(unsent);
    REQUIRE(sent.state != State::broken);
    did_wait |= sent.state == State::wants_write;
    unsent = std::string(unsent.substr(sent.bytes));
    const auto step = pair.server.read(piece.data(), piece.size());
    REQUIRE(step.state != State::broken);
    got.append(piece.data(), step.bytes);
  }
  CHECK(did_wait);
  CHECK(got == data);
}

TEST_CASE("close_notify is an end, a connection that is cut is an error") {
  std::array<char, 10> got{};
  {
    Pair pair;
    REQUIRE(pair.shake_hands() == State::done);
    pair.client.end();
    pair.client.end();
    CHECK(pair.server.read(got.data(), got.size()).state == State::ended);
    CHECK(pair.server.look() == State::ended);
    CHECK(pair.server.write("still").bytes == 5);
    CHECK(pair.client.read(got.data(), got.size()).bytes == 5);
  }
  Pair pair;
  REQUIRE(pair.shake_hands() == State::done);
  ::shutdown(pair.ends.descriptors[1], SHUT_RDWR);
  CHECK(pair.server.read(got.data(), got.size()).state == State::broken);
  CHECK(pair.server.last_error().empty());  // not an error of TLS
}

TEST_CASE("the final dot of a name is no part of it in TLS") {
  Pair pair("one.test.");
  CHECK(pair.shake_hands() == State::done);
}

TEST_CASE("a certificate for another name is not accepted, and the reason is reported") {
  Pair pair("two.test");
  CHECK(pair.shake_hands() == State::broken);
  CHECK(pair.client.last_error() ==
        "its certificate is not accepted: hostname mismatch (it is not for \"two.test\")");
}

TEST_CASE("bytes that are not TLS break the handshake") {
  const MadeCertificate certificate("one.test");
  const Ends ends;
  Channel server(ServerContext::load({certificate.files()}).value(), ends.descriptors[0]);
  CHECK(server.handshake() == State::wants_read);
  const std::string request = "GET / HTTP/1.1\r\n\r\n";
  REQUIRE(::send(ends.descriptors[1], request.data(), request.size(), 0) > 0);
  CHECK(server.handshake() == State::broken);
  CHECK(server.last_error() == "http request");
}

}  // namespace
}  // namespace weir::tls
