// One try on one upstream connection, with a client without sockets.
#include "proxy/attempt.hpp"

#include "catch.hpp"
#include "unit/proxy/tried.hpp"

namespace weir::proxy::test {

using namespace std::chrono_literals;

TEST_CASE("An attempt relays a response, and gives its connection back") {
  Tried tried(get);
  tried.start_and_receive();
  CHECK(tried.received.starts_with("GET / HTTP/1.1\r\nHost: a\r\nVia: 1.1 "));
  CHECK(tried.server().active() == 1);
  tried.upstream->send("HTTP/1.1 200 OK\r\nDate: d\r\nContent-Length: 8\r\nX-A: 1\r\n\r\nfirst");
  tried.world.run_until([&] { return tried.client_has("first"); });
  CHECK_FALSE(tried.response().is_whole);
  tried.upstream->send("end");
  CHECK(tried.finish() == Failure::none);
  CHECK(tried.client_has("firstend"));
  CHECK(tried.response().is_whole);
  CHECK(tried.response().status == 200);
  CHECK(tried.response().fields == "Date: d\r\nContent-Length: 8\r\nX-A: 1\r\n");
  CHECK(tried.response().limit_fields == "RateLimit: \"p\";r=1\r\n");
  CHECK(tried.record.server == &tried.server().settings());
  CHECK(tried.record.upstream_took.has_value());
  CHECK_FALSE(tried.record.has_own_connection);
  CHECK(tried.idle() == 1);
  CHECK(tried.server().active() == 0);
}

TEST_CASE("An attempt uses an idle connection if it may") {
  Tried tried(get);
  tried.leave_idle_connection();
  SECTION("it may") {
    tried.start();
    tried.receive_until("\r\n\r\n");
    CHECK(tried.idle() == 0);
    tried.upstream->send(ok);
    CHECK(tried.finish() == Failure::none);
    CHECK(tried.attempt->failed(Failure::none).was_idle == false);  // given back
  }
  SECTION("it may not") {
    tried.start(false);
    tried.receive_head();
    tried.upstream->send(ok);
    CHECK(tried.finish() == Failure::none);
    CHECK(tried.idle() == 2);
  }
  SECTION("the idle one ends instead of an answer") {
    tried.start();
    tried.receive_until("\r\n\r\n");
    tried.upstream.reset();
    CHECK(tried.finish() == Failure::upstream_broken);
    CHECK(tried.attempt->failed(Failure::upstream_broken).was_idle);
  }
}

TEST_CASE("An upstream connection is given back if it stands at the end of a response") {
  const auto [response, is_kept] = GENERATE(table<std::string, bool>({
      {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", true},
      {"HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n", true},
      // The server closes the connection.
      {"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", false},
      {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", false},
      // More bytes have arrived, which belong to no response.
      {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n", false},
  }));
  CAPTURE(response);
  Tried tried(get);
  tried.start_and_receive();
  tried.upstream->send(response);
  CHECK(tried.finish() == Failure::none);
  CHECK(tried.idle() == (is_kept ? 1 : 0));
}

TEST_CASE("A connection that only this client may use again is recorded") {
  Tried tried(get,
              [](Configuration& settings) { settings.upstreams[0].reuse = options::Reuse::safe; });
  tried.leave_idle_connection();
  tried.start_and_receive();  // begin_request() has cleared the record; new client number
  tried.upstream->send(ok);
  CHECK(tried.finish() == Failure::none);
  CHECK(tried.record.has_own_connection);
}

TEST_CASE("A response that has no body ends with its head") {
  const auto [method, status] = GENERATE(table<std::string, std::string>({
      {"HEAD", "200 OK"},
      {"GET", "204 No Content"},
      {"GET", "304 Not Modified"},
  }));
  CAPTURE(method, status);
  Tried tried(method + " / HTTP/1.1\r\nHost: a\r\n\r\n");
  tried.start_and_receive();
  tried.upstream->send("HTTP/1.1 " + status + "\r\nContent-Length: 4\r\n\r\n");
  CHECK(tried.finish() == Failure::none);
  CHECK(tried.response().is_whole);
  CHECK(tried.client_has(""));
  CHECK(tried.idle() == 1);
}

TEST_CASE("A chunked response is decoded, and its trailers are relayed if the client wants them") {
  const auto [te, trailers] = GENERATE(table<std::string, std::string>({
      {"TE: trailers\r\nConnection: TE\r\n", "X-Sum: 1\r\n"},
      {"", ""},
  }));
  Tried tried("GET / HTTP/1.1\r\nHost: a\r\n" + te + "\r\n");
  tried.start_and_receive();
  tried.upstream->send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  tried.world.run_until([&] { return tried.client_has("abc"); });
  tried.upstream->send("2\r\nde\r\n0\r\nX-Sum: 1\r\nContent-Length: 5\r\n\r\n");
  CHECK(tried.finish() == Failure::none);
  CHECK(tried.client_has("abcde"));
  CHECK(tried.response().trailers == trailers);
  CHECK(tried.idle() == 1);
}

TEST_CASE("A response without a length ends with the upstream's connection") {
  Tried tried(get);
  tried.start_and_receive();
  tried.upstream->send("HTTP/1.1 200 OK\r\n\r\nuntil close");
  tried.world.run_until([&] { return tried.client_has("until close"); });
  CHECK_FALSE(tried.has_ended());
  tried.upstream.reset();
  CHECK(tried.finish() == Failure::none);
  CHECK(tried.response().is_whole);
  CHECK(tried.idle() == 0);
}

TEST_CASE("A large piece is sent from its place, and a slow client holds the upstream back") {
  Tried tried(get);
  tried.client.responder.is_slow = true;
  tried.start_and_receive();
  const std::string body(40'000, 'b');
  tried.upstream->send("HTTP/1.1 200 OK\r\nContent-Length: 80000\r\n\r\n");
  auto& gate = tried.client.responder.gate;
  tried.world.run_until([&] { return gate.is_waited_for(); });
  tried.upstream->send(body + body);
  tried.world.poll();
  CHECK(tried.response().status == 0);
  gate.open();
  while (!tried.has_ended()) {
    tried.world.run_until([&] { return gate.is_waited_for() || tried.has_ended(); });
    gate.open();
  }
  CHECK(tried.finish() == Failure::none);
  CHECK(tried.client_has(body + body));
  CHECK(tried.client.responder.large_pieces > 0);
}

TEST_CASE("Interim responses are passed on, and do not restart the time for the response") {
  Tried tried(get, [](Configuration& settings) { settings.upstreams[0].response_timeout = 2s; });
  tried.start_and_receive();
  tried.upstream->send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
  tried.world.run_until([&] { return tried.client.responder.interims == std::vector{103}; });
  CHECK_FALSE(tried.client.responder.has_begun());
  CHECK(tried.attempt->failed(Failure::upstream_broken).was_answered);
  CHECK_FALSE(tried.attempt->failed(Failure::upstream_broken).answer_has_begun);
  SECTION("the final response follows") {
    tried.upstream->send(ok);
    CHECK(tried.finish() == Failure::none);
    CHECK(tried.response().status == 200);
  }
  SECTION("another one comes each second") {
    for (int i = 0; i < 3 && !tried.has_ended(); ++i) {
      tried.world.tick(1s);
      tried.upstream->send("HTTP/1.1 103 Early Hints\r\n\r\n");
      tried.world.poll();
    }
    CHECK(tried.finish() == Failure::upstream_timed_out);
  }
}

TEST_CASE("A 101 opens a tunnel if the client has offered the protocol") {
  Tried tried("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
              [](Configuration& settings) { settings.upstreams[0].tunnel_timeout = 90s; });
  tried.start_and_receive();
  CHECK(tried.received.find("Upgrade: websocket\r\n") != std::string::npos);
  tried.upstream->send(
      "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst bytes");
  tried.world.run_until([&] { return tried.client.responder.has_tunnel; });
  CHECK(tried.response().status == 101);
  CHECK(tried.client.responder.tunnel_began_with == "first bytes");
  CHECK(tried.client.responder.tunnel_timeout == 90s);
  CHECK(tried.world.counters->routes[0]->by_status[1].value() == 1);  // counted when it opens
  SECTION("it ends in order") {
    tried.client.responder.gate.open();
    CHECK(tried.finish() == Failure::none);
    tried.attempt.reset();
    CHECK(tried.upstream->has_ended());
    CHECK(tried.upstream->error() == 0);
  }
  SECTION("the client breaks off: the upstream's connection is reset") {
    tried.client.responder.gate.cancel();
    CHECK(tried.finish() == Failure::none);
    CHECK(tried.upstream->has_ended());
    CHECK(tried.upstream->error() == ECONNRESET);
  }
  CHECK(tried.idle() == 0);
}

TEST_CASE("A 101 that the client has not offered is no valid response") {
  const auto [offer, answer] = GENERATE(table<std::string, std::string>({
      {"", "Connection: Upgrade\r\nUpgrade: websocket\r\n"},
      {"Connection: Upgrade\r\nUpgrade: websocket\r\n", "Upgrade: websocket\r\n"},
      {"Connection: Upgrade\r\nUpgrade: websocket\r\n", "Connection: Upgrade\r\nUpgrade: x\r\n"},
  }));
  CAPTURE(offer, answer);
  Tried tried("GET / HTTP/1.1\r\nHost: a\r\n" + offer + "\r\n");
  tried.start_and_receive();
  tried.upstream->send("HTTP/1.1 101 Switching\r\n" + answer + "\r\n");
  CHECK(tried.finish() == Failure::upstream_invalid);
  CHECK_FALSE(tried.client.responder.has_begun());
}

TEST_CASE("A head that is not valid HTTP/1.1 is no response") {
  const auto head = GENERATE(
      as<std::string>{}, "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 200 OK\n\n",
      "HTTP/1.1 600 Six\r\n\r\n", "HTTP/1.1 099 Low\r\n\r\n", "HTTP/1.1 200 OK\r\nNo colon\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX-Long: " + std::string(65'536, 'x'));
  CAPTURE(head.substr(0, 80));
  Tried tried(get);
  tried.start_and_receive();
  tried.upstream->send(head);
  CHECK(tried.finish() == Failure::upstream_invalid);
  CHECK_FALSE(tried.client.responder.has_begun());
  CHECK(tried.idle() == 0);
}

TEST_CASE("White space before a colon is removed from a response") {
  Tried tried(get);
  tried.start_and_receive();
  tried.upstream->send("HTTP/1.1 200 OK\r\nX-A : 1\r\nContent-Length: 0\r\n\r\n");
  CHECK(tried.finish() == Failure::none);
  CHECK(tried.response().fields.find("X-A: ") == 0);
}

TEST_CASE("A malformed chunk is an invalid response, which can be replaced until one was sent") {
  Tried tried(get);
  tried.start_and_receive();
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  SECTION("with the head") {
    tried.upstream->send(head + "zz\r\n");
    CHECK(tried.finish() == Failure::upstream_invalid);
    CHECK_FALSE(tried.client.responder.has_begun());
  }
  SECTION("later") {
    tried.upstream->send(head + "2\r\nab\r\n");
    tried.world.run_until([&] { return tried.client_has("ab"); });
    tried.upstream->send("2\r\ncd\r\nzz\r\n");
    CHECK(tried.finish() == Failure::upstream_invalid);
    CHECK(tried.client_has("abcd"));
    CHECK_FALSE(tried.response().is_whole);
  }
  CHECK(tried.idle() == 0);
}

TEST_CASE("A response that comes while the request is still sent ends the upload") {
  Tried tried(post);
  tried.start_and_receive();
  tried.world.run_until([&] { return tried.client.body.is_waited_for(); });
  tried.upstream->send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
  CHECK(tried.finish() == Failure::none);
  CHECK(tried.response().status == 403);
  CHECK(tried.client_has("no"));
  CHECK_FALSE(tried.client.body.is_waited_for());
  CHECK(tried.idle() == 0);  // the server still expects the rest
}

}  // namespace weir::proxy::test
