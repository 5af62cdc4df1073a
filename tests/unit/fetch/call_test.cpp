#include "fetch/call.hpp"

#include <memory>
#include <optional>
#include <string>
#include <unistd.h>

#include "catch.hpp"
#include "unit/proxy/test_server.hpp"
#include "unit/tls/made_certificate.hpp"

namespace weir::fetch {
namespace {

using loop::test::FarEnd;
using loop::test::run;
using proxy::test::TestServer;
using tls::test::MadeCertificate;

/// A request to a server that the test controls.
class Fetching {
 public:
  explicit Fetching(http::Url url = {}) {
    request.url = std::move(url);
    if (request.url.host.empty()) request.url.host = "127.0.0.1";
    request.url.port = server.port();
    request.timeout = std::chrono::hours(1);
    request.most_body = 100;
  }
  void start() {
    call = Call::start(io, request, [this](Result<Answer> answer) {
      REQUIRE_FALSE(result.has_value());
      result = std::move(answer);
    });
    run(io);
  }
  std::unique_ptr<FarEnd> accept() {
    auto far = server.accept();
    REQUIRE(far);
    run(io);
    return far;
  }
  /// Waits for the result.
  void await() {
    io.restart();
    while (!result && io.run_one() > 0) {
    }
    REQUIRE(result.has_value());
    run(io);
  }
  Answer answer() {
    await();
    if (result->has_error()) FAIL(result->error().message);
    return **result;
  }
  std::string problem() {
    await();
    return result->has_value() ? "none" : result->error().message;
  }

  asio::io_context io;
  TestServer server;
  Request request;
  std::shared_ptr<Call> call;
  std::optional<Result<Answer>> result;
};

TEST_CASE("a GET has the fields that are needed, and its answer a status, a body and a lifetime") {
  Fetching fetching({.target = "/keys.json?v=1"});
  fetching.request.accept = "application/json";
  fetching.start();
  const auto far = fetching.accept();
  CHECK(far->receive() ==
        "GET /keys.json?v=1 HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(fetching.server.port()) +
            "\r\nUser-Agent: weir\r\nAccept: application/json\r\n"
            "Accept-Encoding: identity\r\nConnection: close\r\n\r\n");
  CHECK_FALSE(fetching.result.has_value());
  far->send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 5\r\n\r\nhe");
  run(fetching.io);
  CHECK_FALSE(fetching.result.has_value());
  far->send("llo");
  const Answer answer = fetching.answer();
  CHECK(answer.status == 200);
  CHECK(answer.body == "hello");
  CHECK((answer.fresh_for == std::chrono::seconds(60)));
  CHECK(far->has_ended());
  CHECK(fetching.call.use_count() == 1);  // nothing keeps it
}

TEST_CASE("a request may have a method, a token and a body, and its answer be read at any status") {
  Fetching fetching({.target = "/v1/overrides"});
  fetching.request.method = "PUT";
  fetching.request.token = Secret("s3cret");
  fetching.request.json = "{}";
  fetching.request.reads_any_status = true;
  fetching.start();
  const auto far = fetching.accept();
  const std::string text = far->receive();
  CHECK(text.starts_with("PUT /v1/overrides HTTP/1.1\r\n"));
  CHECK(
      text.ends_with("\r\nAuthorization: Bearer s3cret\r\nContent-Type: application/json\r\n"
                     "Content-Length: 2\r\n\r\n{}"));
  far->send("HTTP/1.1 409 Conflict\r\nContent-Length: 4\r\n\r\nbusy");
  const Answer answer = fetching.answer();
  CHECK(answer.status == 409);
  CHECK(answer.body == "busy");
}

TEST_CASE("a request may have more fields, and need no more than the head of its answer") {
  Fetching fetching({.target = "/hook"});
  fetching.request.method = "POST";
  fetching.request.fields = {{"authorization", Secret("s3cret")}, {"x-team", Secret("api")}};
  fetching.request.json = "{}";
  fetching.request.reads_body = false;
  fetching.start();
  const auto far = fetching.accept();
  CHECK(far->receive().find("\r\nauthorization: s3cret\r\nx-team: api\r\n") != std::string::npos);
  far->send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\nRetry-After: 3\r\n\r\nx");
  const Answer answer = fetching.answer();
  CHECK(answer.status == 200);
  CHECK(answer.body.empty());
  CHECK((answer.retry_after == std::chrono::seconds(3)));
}

TEST_CASE("a body may be chunked, or end with the connection") {
  for (const std::string text :
       {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nhello"}) {
    Fetching fetching;
    fetching.start();
    const auto far = fetching.accept();
    far->send(text);
    far->end_sending();
    CHECK(fetching.answer().body == "hello");
  }
}

TEST_CASE("a redirect is an answer, and is not followed") {
  Fetching fetching;
  fetching.start();
  const auto far = fetching.accept();
  far->send("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:" +
            std::to_string(fetching.server.port()) + "/\r\nContent-Length: 10\r\n\r\n");
  CHECK(fetching.answer().status == 302);
  far->receive();
  CHECK(far->has_ended());
  CHECK(fetching.server.accept() == nullptr);
}

TEST_CASE("an answer that cannot be used ends with its problem") {
  struct Row {
    std::string text;
    std::string problem;
  };
  const Row rows[] = {
      {"", "the connection was closed without an answer"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
       "the connection was closed before the end of the answer"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n", "its body has 101 bytes, more than 100"},
      {"HTTP/1.1 200 OK\r\n\r\n" + std::string(101, 'x'), "its body is larger than 100 bytes"},
      {"220 mail.example ESMTP\r\n\r\n", "it is not HTTP/1.1"},
  };
  for (const Row& row : rows) {
    Fetching fetching;
    fetching.start();
    const auto far = fetching.accept();
    if (!row.text.empty()) far->send(row.text);
    far->end_sending();
    CHECK(fetching.problem() == row.problem);
  }
}

TEST_CASE("a server that does not listen, or resets, is a problem") {
  Fetching refused;
  refused.server.close();
  refused.start();
  CHECK(refused.problem() == "cannot connect: Connection refused");

  Fetching reset;
  reset.start();
  const auto far = reset.accept();
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(far->native(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  far->close();
  CHECK(reset.problem() == "the connection failed: Connection reset by peer");
}

TEST_CASE("a name is looked up, and each of its addresses is tried") {
  Fetching fetching({.host = "localhost"});
  fetching.start();
  std::unique_ptr<FarEnd> far = fetching.server.accept();
  while (!far) {
    fetching.io.restart();
    fetching.io.run_one();
    far = fetching.server.accept();
  }
  run(fetching.io);
  CHECK(far->receive().find("\r\nHost: localhost:" + std::to_string(fetching.server.port())) !=
        std::string::npos);
  far->send("HTTP/1.1 204 No Content\r\n\r\n");
  CHECK(fetching.answer().status == 204);

  Fetching unknown({.host = std::string(64, 'x')});  // no server is asked for such a name
  unknown.start();
  CHECK(unknown.problem().starts_with("cannot look up the name: "));
}

TEST_CASE("the timeout covers every phase") {
  Fetching connecting;
  connecting.server.fill_queue();
  connecting.request.timeout = std::chrono::milliseconds(1);
  connecting.start();
  CHECK(connecting.problem() == "timed out while connecting");

  Fetching waiting;
  waiting.request.timeout = std::chrono::milliseconds(1);
  waiting.start();
  CHECK(waiting.problem() == "timed out while waiting for the answer");

  Fetching reading;
  reading.request.timeout = std::chrono::milliseconds(200);
  reading.start();
  const auto far = reading.accept();
  far->send("HTTP/1.1 200 OK\r\n\r\nhel");
  CHECK(reading.problem() == "timed out while reading the answer");
  CHECK(far->receive().starts_with("GET / "));
  CHECK(far->has_ended());
}

TEST_CASE("a call that waits ends when its caller gives up") {
  TestServer server;
  const Request request{.url = {.host = "127.0.0.1", .port = server.port()},
                        .timeout = std::chrono::hours(1),
                        .most_body = 10};
  int asked = 0;
  CHECK_FALSE(answer_unless([&] { return ++asked == 3; }, request).has_value());
  CHECK(asked == 3);
  const auto far = server.accept();
  far->receive();
  CHECK(far->has_ended());
  server.close();
  const auto refused = answer_unless([] { return false; }, request);
  REQUIRE(refused.has_value());
  CHECK(refused->error().message == "cannot connect: Connection refused");
}

TEST_CASE("a call that waits needs no loop of the caller") {
  TestServer server;
  Request request{.url = {.host = "127.0.0.1", .port = server.port()},
                  .timeout = std::chrono::milliseconds(1)};
  CHECK(answer_to(request).error().message.starts_with("timed out while "));
  request.timeout = std::chrono::hours(1);
  server.close();
  CHECK(answer_to(request).error().message == "cannot connect: Connection refused");
  request.unix_path = "/no-such-directory/socket";
  CHECK(answer_to(request).error().message == "cannot connect: No such file or directory");
}

TEST_CASE("a request that is cancelled reports nothing") {
  Fetching waiting;
  waiting.start();
  const auto far = waiting.accept();
  far->receive();
  waiting.call->cancel();
  run(waiting.io);
  CHECK_FALSE(waiting.result.has_value());
  CHECK(far->has_ended());
  CHECK(waiting.call.use_count() == 1);

  Fetching looking({.host = "localhost"});
  looking.start();
  looking.call->cancel();
  run(looking.io);
  CHECK_FALSE(looking.result.has_value());
  CHECK(looking.call.use_count() == 1);
}

TEST_CASE("a loop may end while a request waits") {
  TestServer server;
  bool is_called = false;
  for (const std::string host : {"127.0.0.1", "localhost"}) {
    asio::io_context io;
    Request request{.url = {.host = host, .port = server.port()}};
    auto call = Call::start(io, std::move(request), [&](const auto&) { is_called = true; });
    io.poll();
    call.reset();
  }
  CHECK_FALSE(is_called);
}

/// A server that speaks TLS, and answers each request 200 with the body "ok".
class SecureServer {
 public:
  explicit SecureServer(const MadeCertificate& certificate)
      : context_(tls::ServerContext::load({certificate.files()}).value()) {}

  void answer(asio::io_context& io, const FarEnd& far) {
    stream_.emplace(io, loop::Descriptor(::dup(far.native())));
    loop::spawn(io, serve());
  }
  const std::string& request() const { return request_; }

 private:
  loop::Task<> serve() {
    if (co_await stream_->accept_tls(context_)) co_return;
    std::array<char, 1000> piece{};
    error_code ec;
    const std::size_t n = co_await stream_->read(asio::buffer(piece), ec);
    request_.assign(piece.data(), n);
    co_await stream_->write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  }

  std::shared_ptr<const tls::ServerContext> context_;
  std::optional<loop::Stream> stream_;
  std::string request_;
};

std::string outcome_over_tls(const MadeCertificate& certificate, const tls::ClientFiles& files) {
  Fetching fetching({.is_secure = true});
  fetching.request.tls = tls::ClientContext::load(files).value();
  SecureServer server(certificate);
  fetching.start();
  const auto far = fetching.accept();
  server.answer(fetching.io, *far);
  fetching.await();
  if (fetching.result->has_value()) return fetching.answer().body;
  CHECK(server.request().empty());
  return fetching.problem();
}

TEST_CASE("over TLS the certificate is verified before the request is sent") {
  const MadeCertificate certificate("issuer.example");
  const MadeCertificate other("issuer.example");
  const auto outcome = [&](const MadeCertificate& ca, const std::string& name, bool verify = true) {
    tls::ClientFiles files;
    files.ca = ca.files().certificate;
    files.server_name = name;
    files.verify = verify;
    return outcome_over_tls(certificate, files);
  };
  const std::string not_accepted = "TLS: its certificate is not accepted: ";
  CHECK(outcome(certificate, "issuer.example") == "ok");
  CHECK(outcome(other, "", false) == "ok");
  CHECK(outcome(certificate, "").starts_with(not_accepted + "IP address mismatch"));
  CHECK(outcome(certificate, "other.example").starts_with(not_accepted + "hostname mismatch"));
  CHECK(outcome(other, "issuer.example").starts_with(not_accepted));
}

TEST_CASE("a server that does not speak TLS is a problem of TLS") {
  Fetching fetching({.is_secure = true});
  fetching.request.tls = tls::ClientContext::load(tls::ClientFiles()).value();
  fetching.start();
  const auto far = fetching.accept();
  far->send("HTTP/1.1 400 Bad Request\r\n\r\n");
  CHECK(fetching.problem().starts_with("TLS: "));
}

}  // namespace
}  // namespace weir::fetch
