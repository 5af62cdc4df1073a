// The responses of an HTTP/1 connection: heads, framing, and whether the connection is kept.
#include "proxy/http1_responder.hpp"

#include "catch.hpp"
#include "unit/proxy/http1_client.hpp"

namespace weir::proxy::test {
namespace {

const http::FieldSection limit_fields{{"RateLimit", "l"}};
const http::FieldSection own_fields{{"X-A", "1"}};

using namespace std::chrono_literals;
using Kind = http::Framing::Kind;

constexpr std::string_view date = "Sun, 06 Nov 1994 08:49:37 GMT";
const std::string get_request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const std::string old_get = "GET / HTTP/1.0\r\n\r\n";
const std::string upload = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n";

/// Removes the Date line, whose value is the current time.
std::string without_date(std::string text) {
  const auto begin = text.find("Date: ");
  REQUIRE(begin != std::string::npos);
  return text.erase(begin, text.find("\r\n", begin) + 2 - begin);
}

class Answering : public Http1Client {
 public:
  using Http1Client::Http1Client;

  std::string answer(const OwnAnswer& answer = {
                         .status = 200, .content_type = "t/p", .body = "ok"}) {
    run(responder.answer(answer));
    return without_date(far.receive());
  }
  /// Begins a forwarded response.
  void begin(Kind kind, int status = 200) {
    line_ = {.status = status, .reason = "Fine"};
    fields_.clear();
    if (kind == Kind::length)
      fields_.push_back(
          {.id = http::FieldId::content_length, .name = "Content-Length", .value = "5"});
    responder.begin({.head = head(kind), .limit_fields = &limit_fields, .date = date});
  }
  http::ResponseHead head(Kind kind) const {
    return {.line = line_, .fields = fields_, .connection = options_, .body = {kind, 5}};
  }
  /// Sends the text built so far, and returns it as received by the client.
  std::string sent() {
    error_code ec;
    CHECK_FALSE(responder.send(ec));
    CHECK_FALSE(ec);
    return far.receive();
  }
  void set_head(int status, std::vector<http::FieldView> fields) {
    line_ = {.status = status, .reason = "Fine"};
    fields_ = std::move(fields);
  }

 private:
  http::StatusLine line_;
  std::vector<http::FieldView> fields_;
  http::ConnectionOptions options_;
};

const std::string forwarded_head = "HTTP/1.1 200 Fine\r\n";
const std::string added = "Date: " + std::string(date) + "\r\nRateLimit: l\r\n";

}  // namespace

TEST_CASE("A response of Weir's own has a length, and a Connection line as the version needs it") {
  const auto [head, connection, keeps] = GENERATE(table<std::string, std::string, bool>({
      {get_request, "", true},
      {"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "Connection: close\r\n", false},
      {old_get, "Connection: close\r\n", false},
      {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "Connection: keep-alive\r\n", true},
  }));
  CAPTURE(head);
  Answering client;
  client.receive(head);
  CHECK_FALSE(client.responder.keeps_connection());
  CHECK(client.answer({.status = 404,
                       .content_type = "t/p",
                       .fields = &own_fields,
                       .body = "no",
                       .limit_fields = &limit_fields}) ==
        "HTTP/1.1 404 Not Found\r\nContent-Type: t/p\r\nContent-Length: 2\r\nRateLimit: l\r\n"
        "X-A: 1\r\n" +
            connection + "\r\nno");
  CHECK(client.responder.keeps_connection() == keeps);
  CHECK(client.responder.status() == 404);
  CHECK(client.responder.has_begun());
  CHECK(client.responder.bytes_sent() > 100);
}

TEST_CASE("A response of Weir's own has the fields of its route, unless it has its own") {
  const http::FieldEdits edits({{"Cache-Control", "public"}, {"x-a", "route"}, {"x-b", "route"}},
                               {}, {});
  const auto [status, added] = GENERATE(table<int, std::string>({
      {200, "Cache-Control: public\r\nx-b: route\r\n"},
      {404, "x-b: route\r\n"},
  }));
  Answering client;
  client.receive(get_request);
  const std::string text = client.answer({.status = status,
                                          .content_type = "t/p",
                                          .fields = &own_fields,
                                          .body = "no",
                                          .edits = &edits});
  CHECK(text.ends_with("Content-Length: 2\r\nX-A: 1\r\n" + added + "\r\nno"));
}

TEST_CASE("A response of Weir's own has no body where HTTP allows none") {
  Answering client;
  SECTION("to HEAD") {
    client.receive("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(client.answer().ends_with("Content-Length: 2\r\n\r\n"));
  }
  SECTION("to a HEAD that is not a valid request") {
    client.connection.input.append("HEAD  /\r\n\r\n");
    client.responder.begin_request(client.request, client.world.settings->proxy);
    CHECK(client.answer().ends_with("Content-Length: 2\r\nConnection: close\r\n\r\n"));
  }
  SECTION("204") {
    client.receive(get_request);
    CHECK(client.answer({.status = 204, .fields = &own_fields, .body = "ok"}) ==
          "HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n");
  }
  SECTION("304") {
    client.receive(get_request);
    CHECK(client.answer({.status = 304, .body = "ok"}).ends_with("\r\n\r\n"));
  }
}

TEST_CASE("A connection is kept after an answer if the next request can be found") {
  Answering client({.max_drain = 9});
  bool keeps = false;
  SECTION("the body is small enough to be discarded") {
    client.receive(upload, "one ");
    keeps = true;
  }
  SECTION("the body is too large") {
    client.receive("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n", "one ");
  }
  SECTION("its size is unknown") {
    client.receive("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  }
  SECTION("the client waits for 100") {
    client.receive(
        "PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n");
  }
  SECTION("a part of the body has been used") {
    client.receive(upload, "one ");
    std::string_view piece;
    client.body.pull(piece);
  }
  SECTION("all of it has been used") {
    client.receive(upload, "one two 3");
    std::string_view piece;
    while (client.body.pull(piece) == BodyState::payload) {
    }
    keeps = true;
  }
  SECTION("the worker drains") {
    client.receive(get_request);
    client.world.context.draining = true;
  }
  SECTION("the listener drains") {
    client.receive(get_request);
    client.listener.draining = true;
  }
  const bool closes = client.answer().find("Connection: close\r\n") != std::string::npos;
  CHECK(client.responder.keeps_connection() == keeps);
  CHECK(closes == !keeps);
}

TEST_CASE("A connection that takes no answer is not kept") {
  Answering client;
  client.receive(get_request);
  client.far.close();
  client.run(client.responder.answer({.status = 200}));
  CHECK_FALSE(client.responder.keeps_connection());
}

TEST_CASE("A forwarded response is framed for the client's version") {
  const auto [head, kind, framing, body, keeps] =
      GENERATE(table<std::string, Kind, std::string, std::string, bool>({
          {get_request, Kind::length, "", "hello", true},
          {get_request, Kind::chunked, "Transfer-Encoding: chunked\r\n",
           "5\r\nhello\r\n0\r\nX: 1\r\n\r\n", true},
          {get_request, Kind::until_close, "Transfer-Encoding: chunked\r\n",
           "5\r\nhello\r\n0\r\nX: 1\r\n\r\n", true},
          {old_get, Kind::length, "Connection: close\r\n", "hello", false},
          {old_get, Kind::chunked, "Connection: close\r\n", "hello", false},
          {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", Kind::length,
           "Connection: keep-alive\r\n", "hello", true},
          {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", Kind::until_close,
           "Connection: close\r\n", "hello", false},
      }));
  CAPTURE(head, static_cast<int>(kind));
  Answering client;
  client.receive(head);
  client.begin(kind);
  CHECK_FALSE(client.responder.has_begun());
  CHECK(client.responder.append("hello"));
  client.responder.end({{"X", "1"}});
  const std::string length = kind == Kind::length ? "Content-Length: 5\r\n" : "";
  const std::string expected = forwarded_head + length + added + framing + "\r\n" + body;
  CHECK(client.sent() == expected);
  CHECK(client.responder.has_begun());
  CHECK(client.responder.keeps_connection() == keeps);
  CHECK(client.responder.bytes_sent() == expected.size());
}

TEST_CASE("A forwarded response closes the connection if the request is not read to its end") {
  Answering client;
  client.receive(upload, "one ");
  client.begin(Kind::length);
  CHECK(client.sent().ends_with("Connection: close\r\n\r\n"));
  CHECK_FALSE(client.responder.keeps_connection());
}

TEST_CASE("Pieces of a body are sent one after the other") {
  Answering client;
  client.receive(get_request);
  client.begin(Kind::chunked);
  client.sent();
  CHECK(client.responder.append("ab"));
  CHECK(client.responder.append("c"));
  CHECK(client.sent() == "2\r\nab\r\n1\r\nc\r\n");
  client.world.context.output = "of another exchange";
  CHECK(client.sent().empty());
  CHECK(client.responder.append("d"));
  client.responder.end({});
  CHECK(client.sent() == "1\r\nd\r\n0\r\n\r\n");
  client.world.context.output = "of another exchange";
  client.responder.end({});
  CHECK(client.sent() == "0\r\n\r\n");
}

TEST_CASE("A response that was not sent is replaced by another one") {
  Answering client;
  client.receive(get_request);
  client.begin(Kind::chunked);
  client.responder.append("lost");
  CHECK(client.answer({.status = 502, .content_type = "t/p", .body = "bad"}) ==
        "HTTP/1.1 502 Bad Gateway\r\nContent-Type: t/p\r\nContent-Length: 3\r\n\r\nbad");
  CHECK(client.responder.status() == 502);
}

TEST_CASE("A large piece is sent from its place unless it becomes a chunk") {
  const std::string large(gather_limit + 1, 'x');
  Answering client;
  client.receive(get_request);
  SECTION("not in chunks") {
    client.begin(Kind::length);
    CHECK(client.responder.append(large.substr(1)));
    CHECK_FALSE(client.responder.append(large));
    client.sent();
    const auto before = client.responder.bytes_sent();
    CHECK_FALSE(client.run(client.responder.send_from_place(large)));
    CHECK(client.far.receive() == large);
    CHECK(client.responder.bytes_sent() - before == large.size());
    CHECK(client.connection.watchdog.phase() == Phase::body);
  }
  SECTION("in chunks") {
    client.begin(Kind::chunked);
    CHECK(client.responder.append(large));
    CHECK(client.sent().ends_with("4001\r\n" + large + "\r\n"));
  }
}

TEST_CASE("A client that takes nothing is waited for, for body_timeout") {
  Answering client({.body_timeout = 2s});
  client.receive(get_request);
  const std::string body = large_text();
  client.begin(Kind::chunked);
  CHECK(client.responder.append(body));
  error_code ec;
  CHECK(client.responder.send(ec));
  std::optional<error_code> result;
  loop::spawn(client.world.io, note_result(client.responder.flush(), result));
  client.world.poll();
  CHECK_FALSE(result);
  CHECK(client.connection.watchdog.phase() == Phase::body);
  SECTION("it takes it") {
    std::string received;
    client.world.run_until([&] {
      received += client.far.receive();
      return result.has_value();
    });
    received += client.far.receive();
    CHECK_FALSE(*result);
    CHECK(received.ends_with(body + "\r\n"));
  }
  SECTION("it does not") {
    client.world.tick(1'900ms);
    CHECK_FALSE(result);
    client.world.tick_until([&] { return result.has_value(); });
    CHECK(*result == asio::error::operation_aborted);
  }
}

TEST_CASE("An interim response goes to clients of HTTP/1.1 alone") {
  const auto [head, text] = GENERATE(table<std::string, std::string>(
      {{get_request, "HTTP/1.1 103 Fine\r\nLink: </a>\r\n\r\n"}, {old_get, ""}}));
  Answering client;
  client.receive(head);
  client.set_head(103, {{.id = http::FieldId::link, .name = "Link", .value = "</a>"}});
  CHECK_FALSE(client.run(client.responder.interim(client.head(Kind::none))));
  CHECK(client.far.receive() == text);
  CHECK_FALSE(client.responder.has_begun());
  CHECK(client.responder.status() == 0);
  CHECK(client.responder.bytes_sent() == text.size());
}

TEST_CASE("After a 101 bytes pass both ways, from those that came with the heads") {
  Answering client;
  client.receive("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
                 "early ");
  client.set_head(101, {{.id = http::FieldId::upgrade, .name = "Upgrade", .value = "x"}});
  CHECK_FALSE(
      client.run(client.responder.switch_protocols({.head = client.head(Kind::none), .date = {}})));
  const std::string head = client.far.receive();
  CHECK(head == "HTTP/1.1 101 Fine\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n");
  StreamPair upstream(client.world.io);
  loop::InputBuffer input(64);
  input.append("first ");
  std::optional<bool> result;
  loop::spawn(client.world.io,
              note_result(client.responder.tunnel(
                              {.stream = upstream.stream, .input = input, .idle_timeout = 5s}),
                          result));
  client.far.send("up");
  upstream.far.send("down");
  std::string up, down;
  client.world.run_until([&] {
    up += upstream.far.receive();
    down += client.far.receive();
    return up == "early up" && down == "first down";
  });
  CHECK(client.connection.watchdog.phase() == Phase::tunnel);
  CHECK_FALSE(client.responder.keeps_connection());
  SECTION("until both sides have ended") {
    client.far.end_sending();
    upstream.far.end_sending();
    client.world.run_until([&] { return result.has_value(); });
    CHECK(*result);
  }
  SECTION("until one side breaks off") {
    client.connection.stream.close();
    client.world.run_until([&] { return result.has_value(); });
    CHECK_FALSE(*result);
    CHECK(client.far.has_ended());
  }
  CHECK(client.body.received() == 8);
  CHECK(client.responder.bytes_sent() == head.size() + 10);
}

TEST_CASE("A reset ends the connection, which is not kept") {
  Answering client;
  client.receive(get_request);
  error_code ec;
  REQUIRE_FALSE(client.responder.send(ec));
  client.responder.reset();
  CHECK(client.far.has_ended());
  CHECK_FALSE(client.connection.stream.is_open());
  CHECK_FALSE(client.responder.keeps_connection());
}

TEST_CASE("The next request begins without a response") {
  Answering client;
  client.receive(get_request);
  client.answer();
  client.receive(get_request);
  CHECK(client.responder.status() == 0);
  CHECK_FALSE(client.responder.has_begun());
  CHECK(client.responder.bytes_sent() == 0);
  CHECK_FALSE(client.responder.keeps_connection());
}

}  // namespace weir::proxy::test
