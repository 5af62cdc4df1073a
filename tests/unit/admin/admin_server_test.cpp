#include "admin/admin_server.hpp"

#include <atomic>
#include <deque>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <unistd.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include "admin/status_feed.hpp"
#include "catch.hpp"
#include "test_process.hpp"

namespace {

namespace asio = boost::asio;
using namespace weir;
using admin::AdminServer;
using admin::TestProcess;
using boost::system::error_code;

Endpoint any_port() {
  return {.host = "127.0.0.1", .port = 0, .unix_path = {}};
}

loop::BoundAddress bound(const Endpoint& address) {
  auto opened = loop::listen_on(address, 1);
  REQUIRE(opened.has_value());
  return std::move(*opened);
}

/// With one that takes a body.
std::vector<admin::AdminEndpoint> some_endpoints() {
  auto all = admin::instrument_endpoints();
  all.push_back({"/v1/overrides", "PUT",
                 [](const auto&, const auto&, const auto& reply) { reply({.status = 204}); }});
  return all;
}

struct RunningServer {
  explicit RunningServer(TestProcess& process) {
    server.show(process.shown());
    server.serve(bound(any_port()));
    REQUIRE(server.address().port != 0);
  }
  AdminServer server{some_endpoints()};
};

/// A plain blocking client.
class Client {
 public:
  explicit Client(const RunningServer& running) : Client(running.server.address().port) {}
  explicit Client(std::uint16_t port) : socket_(io_) {
    socket_.connect({asio::ip::make_address("127.0.0.1"), port});
  }
  void send(std::string_view text) { asio::write(socket_, asio::buffer(text.data(), text.size())); }
  std::string read_head() {
    const auto size = asio::read_until(socket_, asio::dynamic_buffer(received_), "\r\n\r\n");
    return take(size);
  }
  std::string read_body(std::size_t size) {
    if (received_.size() < size) {
      asio::read(socket_, asio::dynamic_buffer(received_),
                 asio::transfer_exactly(size - received_.size()));
    }
    return take(size);
  }
  std::string read_event() {
    return take(asio::read_until(socket_, asio::dynamic_buffer(received_), "\n\n"));
  }
  /// Everything until the server closes; a reset counts as closed.
  std::string read_all() {
    error_code ended;
    asio::read(socket_, asio::dynamic_buffer(received_), ended);
    return take(received_.size());
  }

 private:
  std::string take(std::size_t size) {
    std::string text = received_.substr(0, size);
    received_.erase(0, size);
    return text;
  }
  asio::io_context io_;
  asio::ip::tcp::socket socket_;
  std::string received_;
};

std::string ask(const RunningServer& running, std::string_view request) {
  Client client(running);
  client.send(request);
  return client.read_all();
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("AdminServer answers over HTTP") {
  TestProcess process({admin::named_route("search")});
  const RunningServer running(process);
  SECTION("a probe") {
    const auto text = ask(running, "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    CHECK(text.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(text.ends_with("\r\n\r\nok\n"));
  }
  SECTION("a scrape, its query ignored") {
    const auto text = ask(running, "GET /metrics?x=1 HTTP/1.0\r\n\r\n");
    CHECK(text.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(contains(text, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    CHECK(contains(text, "\nweir_build_info{version=\"" WEIR_VERSION "\"} 1\n"));
  }
  SECTION("HEAD without a body but with its length") {
    const auto text =
        ask(running, "HEAD /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    CHECK(contains(text, "Content-Length: 3\r\n"));
    CHECK(text.ends_with("\r\n\r\n"));
  }
  SECTION("a wrong method") {
    const auto text = ask(running, "PUT /healthz HTTP/1.0\r\n\r\n");
    CHECK(text.starts_with("HTTP/1.1 405 "));
    CHECK(contains(text, "\r\nAllow: GET, HEAD\r\n"));
  }
  SECTION("two requests on one connection") {
    Client client(running);
    for (int i = 0; i < 2; ++i) {
      client.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
      CHECK(client.read_head().starts_with("HTTP/1.1 200 "));
      CHECK(client.read_body(3) == "ok\n");
    }
  }
  SECTION("a request with a body, and then no more") {
    const auto text = ask(running,
                          "DELETE /v1/config HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                          "27\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n...");
    CHECK(text.starts_with("HTTP/1.1 405 "));
    CHECK_FALSE(contains(text, "200 OK"));
  }
  SECTION("a body above the limit, by its announced length") {
    for (const char* const length : {"16385", "1048577", "1060000", "10000000000"}) {
      CAPTURE(length);
      const auto text = ask(running, std::string("PUT /v1/overrides HTTP/1.1\r\nHost: localhost\r\n"
                                                 "Content-Length: ") +
                                         length + "\r\n\r\n");
      CHECK(text.starts_with("HTTP/1.1 413 "));
      CHECK(contains(text, "the body is larger than 16 KiB"));
    }
  }
  SECTION("a client that waits until it may send its body") {
    Client client(running);
    client.send(
        "PUT /v1/overrides HTTP/1.1\r\nHost: localhost\r\nExpect: 100-Continue\r\n"
        "Content-Length: 2\r\n\r\n");
    CHECK(client.read_head() == "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("{}");
    CHECK(client.read_head().starts_with("HTTP/1.1 204 "));
  }
  SECTION("a body above the limit, of which nothing is to be sent") {
    const auto text = ask(running,
                          "PUT /v1/overrides HTTP/1.1\r\nHost: localhost\r\nExpect: "
                          "100-continue\r\nContent-Length: 16385\r\n\r\n");
    CHECK(text.starts_with("HTTP/1.1 413 "));
  }
  SECTION("a target in absolute form") {
    for (const char* const target :
         {"http://localhost:9090/healthz", "HTTP://other.example/healthz?x=http://y/z"}) {
      CAPTURE(target);
      const auto text = ask(running, std::string("GET ") + target +
                                         " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
      CHECK(text.ends_with("\r\n\r\nok\n"));
    }
    CHECK(ask(running, "GET http://localhost?x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
              .starts_with("HTTP/1.1 200 "));
  }
  SECTION("bytes that are not HTTP") {
    CHECK(ask(running, "\x16\x03\x01\r\n\r\n").starts_with("HTTP/1.1 400 "));
  }
  SECTION("a head without end") {
    const auto text = ask(running, "GET / HTTP/1.1\r\nX: " + std::string(9000, 'x'));
    CHECK(text.starts_with("HTTP/1.1 431 "));
  }
  SECTION("nothing at all") {
    { const Client gone(running); }
    CHECK(ask(running, "GET /healthz HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 200 "));
  }
}

TEST_CASE("AdminServer requires the token") {
  TestProcess process;
  process.config.admin->token = Secret("s3cret");
  const RunningServer running(process);
  const auto refused = ask(running, "GET /metrics HTTP/1.0\r\n\r\n");
  CHECK(refused.starts_with("HTTP/1.1 401 "));
  CHECK(contains(refused, "\r\nWWW-Authenticate: Bearer\r\n"));
  CHECK(ask(running, "GET /metrics HTTP/1.0\r\nAuthorization: Bearer s3cret\r\n\r\n")
            .starts_with("HTTP/1.1 200 "));
  CHECK(ask(running, "GET /readyz HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 200 "));
  const auto two = ask(running,
                       "GET /metrics HTTP/1.0\r\nAuthorization: Bearer s3cret\r\n"
                       "Authorization: Bearer other\r\n\r\n");
  CHECK(two.starts_with("HTTP/1.1 400 "));
  CHECK(contains(two, "several Authorization fields"));
}

TEST_CASE("AdminServer checks Host and Origin while there is no token") {
  TestProcess process;
  const RunningServer running(process);
  const auto status = [&](const std::string& fields, const std::string& version = "1.1") {
    const auto text = ask(
        running, "GET /metrics HTTP/" + version + "\r\n" + fields + "Connection: close\r\n\r\n");
    return text.substr(9, 3);
  };
  CHECK(status("Host: 127.0.0.1:9090\r\n") == "200");
  CHECK(status("Host: evil.test:9090\r\n") == "403");
  CHECK(status("Host: localhost\r\nOrigin: http://evil.test\r\n") == "403");
  CHECK(status("Host: a\r\nOrigin: http://a\r\n") == "403");
  CHECK(status("Host: localhost\r\nOrigin: http://localhost\r\nOrigin: http://localhost\r\n") ==
        "403");
  CHECK(status("", "1.0") == "200");
  CHECK(status("Host: evil.test\r\n", "1.0") == "403");
  // RFC 9112 section 3.2
  CHECK(status("") == "400");
  CHECK(status("Host: localhost\r\nHost: localhost\r\n") == "400");
  // RFC 9112 section 3.2.2: the target counts.
  CHECK(ask(running,
            "GET http://evil.test/metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .starts_with("HTTP/1.1 403 "));
}

TEST_CASE("AdminServer serves the page with its policy") {
  TestProcess process({admin::named_route("search")});
  const RunningServer running(process);
  const auto text = ask(running, "GET / HTTP/1.0\r\n\r\n");
  CHECK(text.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(contains(text, "\r\nContent-Type: text/html; charset=utf-8\r\n"));
  CHECK(contains(text, "\r\nContent-Security-Policy: default-src 'none'; "));
  CHECK(contains(text, "\r\nReferrer-Policy: no-referrer\r\n"));
  CHECK(contains(text, "\r\nX-Content-Type-Options: nosniff\r\n"));
  CHECK(contains(text, "<th scope=\"row\">search</th>"));
}

TEST_CASE("AdminServer serves the page without the token, but nothing of the process") {
  TestProcess process({admin::named_route("search")});
  process.config.admin->token = Secret("s3cret");
  const RunningServer running(process);
  const auto page = [&](const std::string& fields) {
    return ask(running, "GET / HTTP/1.0\r\n" + fields + "\r\n");
  };
  CHECK(page("").starts_with("HTTP/1.1 200 "));
  CHECK_FALSE(contains(page(""), "search"));
  CHECK(contains(page("Authorization: Bearer s3cret\r\n"), "<th scope=\"row\">search</th>"));
  CHECK(page("Authorization: Bearer wrong\r\n").starts_with("HTTP/1.1 401 "));
  for (const char* path : {"/v1/status", "/v1/status/events"}) {
    CHECK(ask(running, std::string("GET ") + path + " HTTP/1.0\r\n\r\n")
              .starts_with("HTTP/1.1 401 "));
  }
}

TEST_CASE("AdminServer streams the status, beside its other connections") {
  TestProcess process({admin::named_route("search")});
  const RunningServer running(process);
  const std::string request = "GET /v1/status/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
  Client page(running);
  page.send(request);
  const std::string head = page.read_head();
  CHECK(head.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(contains(head, "\r\nContent-Type: text/event-stream\r\n"));
  CHECK(contains(head, "\r\nConnection: close\r\n"));
  CHECK(page.read_event().starts_with("data: {\"at\":"));
  // The connections that would displace the oldest one do not displace a stream.
  std::deque<Client> others;
  for (int i = 0; i < 100; ++i)
    others.emplace_back(running).send("GET /hea");
  // The next event has rates, and so has an answer from now on, at once.
  CHECK(contains(page.read_event(), "\"traffic\":{\"over\":1."));
  const auto status = ask(running, "GET /v1/status HTTP/1.0\r\n\r\n");
  CHECK(contains(status, "\r\nContent-Type: application/json\r\n"));
  CHECK(contains(status, "\"traffic\":{\"over\":1."));
  SECTION("HEAD has no events") {
    CHECK(ask(running, "HEAD /v1/status/events HTTP/1.0\r\n\r\n").ends_with("\r\n\r\n"));
  }
  SECTION("up to a number of streams") {
    std::deque<Client> pages;
    for (std::size_t i = 1; i < admin::most_pages; ++i) {
      pages.emplace_back(running).send(request);
      pages.back().read_head();
    }
    const auto refused = ask(running, "GET /v1/status/events HTTP/1.0\r\n\r\n");
    CHECK(refused.starts_with("HTTP/1.1 503 "));
    CHECK(contains(refused, "too many status pages are open"));
    CHECK(page.read_event().starts_with("data: "));
  }
}

TEST_CASE("a stream ends when its token is not valid any more") {
  TestProcess process;
  process.config.admin->token = Secret("s3cret");
  RunningServer running(process);
  Client page(running);
  page.send("GET /v1/status/events HTTP/1.0\r\nAuthorization: Bearer s3cret\r\n\r\n");
  page.read_head();
  page.read_event();
  TestProcess reloaded;
  SECTION("it continues with the same token") {
    reloaded.config.admin->token = Secret("s3cret");
    running.server.show(reloaded.shown());
    CHECK(page.read_event().starts_with("data: "));
  }
  SECTION("it ends with another one") {
    reloaded.config.admin->token = Secret("other");
    running.server.show(reloaded.shown());
    CHECK(page.read_all().empty());
  }
  running.server.stop();  // does not wait for the stream
}

TEST_CASE("Idle clients do not keep others out") {
  TestProcess process;
  const RunningServer running(process);
  std::deque<Client> slow;
  for (int i = 0; i < 200; ++i)
    slow.emplace_back(running).send("GET /hea");
  CHECK(ask(running, "GET /healthz HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 200 "));
  CHECK(slow.front().read_all().empty());
}

TEST_CASE("AdminServer answers when the handler replies, and serves others meanwhile") {
  TestProcess process;
  admin::Reply reply;
  std::atomic<bool> is_asked{false};
  auto endpoints = admin::instrument_endpoints();
  constexpr static std::string_view parameters[]{"a"};
  const auto handle = [&](const auto& call, const auto&, auto its_reply) {
    CHECK(call.method == admin::AdminCall::Method::post);
    CHECK(call.query == "a=b");
    reply = std::move(its_reply);
    is_asked = true;
    is_asked.notify_one();
  };
  endpoints.push_back({.path = "/v1/reload",
                       .methods = "POST",
                       .handle = handle,
                       .parameters = {"POST", parameters}});
  AdminServer server(std::move(endpoints));
  server.show(process.shown());
  server.serve(bound(any_port()));
  Client client(server.address().port);
  client.send("POST /v1/reload?a=b HTTP/1.0\r\n\r\n");
  is_asked.wait(false);
  Client other(server.address().port);
  other.send("GET /healthz HTTP/1.0\r\n\r\n");
  CHECK(other.read_all().starts_with("HTTP/1.1 200 "));
  reply({.content_type = "application/json", .body = "{}\n"});
  const std::string answer = client.read_all();
  CHECK(answer.starts_with("HTTP/1.1 200 "));
  CHECK(answer.ends_with("\r\n\r\n{}\n"));
}

TEST_CASE("AdminServer moves to another address, and open connections stay") {
  TestProcess process;
  RunningServer running(process);
  Client before(running);
  before.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  before.read_head();
  before.read_body(3);
  const auto address = running.server.address();
  running.server.serve(bound(any_port()));
  CHECK(running.server.address().port != address.port);
  CHECK(ask(running, "GET /healthz HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 200 "));
  before.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  CHECK(before.read_all().starts_with("HTTP/1.1 200 "));
  running.server.serve(std::nullopt);
  CHECK_FALSE(running.server.is_serving());
}

TEST_CASE("AdminServer stops with connections open, and frees its port") {
  TestProcess process;
  RunningServer running(process);
  Client waiting(running);
  waiting.send("GET /hea");
  const auto address = running.server.address();
  running.server.stop();
  running.server.stop();
  CHECK(loop::listen_on(address, 1).has_value());
}

TEST_CASE("AdminServer removes the file of its unix socket") {
  std::string directory = (std::filesystem::temp_directory_path() / "weir-XXXXXX").string();
  REQUIRE(::mkdtemp(directory.data()) != nullptr);
  const Endpoint address{.host = {}, .port = 0, .unix_path = directory + "/admin.sock"};
  TestProcess process;
  AdminServer server(admin::instrument_endpoints());
  server.show(process.shown());
  server.serve(bound(address));
  CHECK(std::filesystem::exists(address.unix_path));
  SECTION("when it stops") {
    server.stop();
  }
  SECTION("when it moves") {
    server.serve(bound(any_port()));
  }
  CHECK_FALSE(std::filesystem::exists(address.unix_path));
  std::filesystem::remove_all(directory);
}
