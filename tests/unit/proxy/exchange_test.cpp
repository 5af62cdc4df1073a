// The phases of a request, with a client without sockets: find routes, decide, wait, answer,
// forward, finish.
#include "proxy/exchange.hpp"

#include "catch.hpp"
#include "proxy/context.hpp"
#include "proxy/own_answers.hpp"
#include "unit/http/lines_of.hpp"
#include "unit/proxy/exchanged.hpp"

namespace weir::proxy::test {

TEST_CASE("A request that no route matches is answered 404") {
  Exchanged exchanged;
  const std::string line = exchanged.ask("GET /none?secret=1");
  CHECK(exchanged.response().status == 404);
  CHECK(exchanged.response().content_type == "application/problem+json");
  CHECK(holds(exchanged.response().body, "no route matches"));
  CHECK(exchanged.counted(unrouted, 404) == 1);
  CHECK(exchanged.counted() == 1);
  CHECK(holds(line, R"("path":"/none","route":null,"plan":null,"status":404)"));
  CHECK(holds(line, R"("decision":null)"));
}

TEST_CASE("A request that is not acceptable is refused before it has a route") {
  const auto [line, status, field] = GENERATE(table<std::string, int, std::string>({
      {"TRACE /fixed", 405, http::lines_of(allow_field())},
      {"GET /fixed\\x", 400, ""},
      {"GET /a%2Fb", 400, ""},  // by the route phase
  }));
  CAPTURE(line);
  Exchanged exchanged;
  exchanged.ask(line);
  CHECK(exchanged.response().status == status);
  CHECK(exchanged.response().fields == field);
  CHECK(exchanged.counted(unrouted, status) == 1);
  CHECK(exchanged.store.questions == 0);
}

TEST_CASE("A fixed response is sent as configured") {
  Exchanged exchanged;
  const std::string line = exchanged.ask("GET /fixed", "User-Agent: test\r\nX-Request-Id: 17\r\n");
  CHECK(exchanged.response().status == 203);
  CHECK(exchanged.response().content_type == "text/html");
  CHECK(exchanged.response().body == "hello");
  CHECK(exchanged.response().limit_fields.empty());
  CHECK(exchanged.counted(fixed, 203) == 1);
  CHECK(exchanged.counted() == 1);
  CHECK(exchanged.store.questions == 0);
  CHECK(exchanged.store.settle_calls == 0);
  CHECK(holds(
      line,
      R"("method":"GET","path":"/fixed","route":"fixed","plan":null,"status":203,"aborted_by":null,"bytes_in":0,)"
      R"("bytes_out":5,)"));
  CHECK(holds(
      line,
      R"("upstream":null,"upstream_server":null,"upstream_us":null,"upstream_error":null,"decision":null,"policy":null)"));
  CHECK(holds(line, R"("client":"192.0.2.1")"));
  // The peer is not trusted to name it.
  CHECK_FALSE(holds(line, R"("request_id":"17")"));
  CHECK(holds(line, R"("trace_id":null,"user_agent":"test","protocol":"HTTP/1.1")"));
}

TEST_CASE("A limited request is decided, at once or later, and its grant settled at the end") {
  Exchanged exchanged;
  SECTION("at once") {
    exchanged.begin("GET /limited");
  }
  SECTION("later") {
    exchanged.store.at_once = false;
    exchanged.begin("GET /limited");
    CHECK_FALSE(exchanged.has_ended);
    CHECK(exchanged.client.watchdog.phase() == Phase::decide);
    exchanged.world.tick(1min);  // the store limits the time
    CHECK_FALSE(exchanged.client.watchdog.timed_out());
    exchanged.store.answer(store::test::epoch);
    exchanged.world.poll();
  }
  CHECK(exchanged.has_ended);
  CHECK(exchanged.response().status == 200);
  CHECK(holds(exchanged.response().limit_fields, "RateLimit: \"one\";r=0"));
  CHECK(exchanged.store.settle_calls == 0);
  const std::string line = exchanged.finish();
  CHECK(exchanged.store.settle_calls == 1);
  CHECK(exchanged.counted(limited, 200) == 1);
  CHECK(holds(
      line,
      R"("decision":"allowed","policy":"one","denied_by":null,"cost":1,"reserved":null,"settled_by":null,"remaining":0,"retry_after_ms":null,"delay_us":0)"));
  CHECK(holds(line, R"("store":"redis")"));
}

TEST_CASE("A denied request is answered with its policy and its retry time") {
  Exchanged exchanged;
  exchanged.ask("GET /limited");
  const std::string line = exchanged.ask("GET /limited");
  CHECK(exchanged.response().status == 429);
  CHECK(exchanged.response().content_type == "application/problem+json");
  CHECK(exchanged.response().fields == "Cache-Control: no-store\r\nRetry-After: 3600\r\n");
  CHECK(holds(exchanged.response().limit_fields, "RateLimit: \"one\";r=0;t=3600"));
  CHECK(holds(exchanged.response().body, R"("violated-policies":["one"])"));
  CHECK(exchanged.counted(limited, 429) == 1);
  CHECK(exchanged.store.settle_calls == 1);  // for the first request only
  CHECK(holds(
      line,
      R"("decision":"denied","policy":"one","denied_by":[{"policy":"one","outcome":"denied","remaining":0}],"cost":1,"reserved":null,"settled_by":null,"remaining":0)"));
}

TEST_CASE("A shadow policy denies nothing, and is logged") {
  Exchanged exchanged;
  CHECK(holds(exchanged.ask("GET /shadowed"), R"("decision":"allowed")"));
  CHECK(holds(exchanged.ask("GET /shadowed"), R"("decision":"shadow_denied")"));
  CHECK(exchanged.response().status == 200);
  CHECK(exchanged.response().limit_fields.empty());
}

TEST_CASE("A request without a required identity is answered with the route's challenge") {
  Exchanged exchanged;
  const std::string line = exchanged.ask("GET /strict");
  CHECK(exchanged.response().status == 401);
  CHECK(exchanged.response().fields == "WWW-Authenticate: Bearer\r\n");
  CHECK(exchanged.counted(strict, 401) == 1);
  CHECK(exchanged.store.questions == 0);
  CHECK(holds(line, R"("decision":"error","policy":null)"));
  CHECK(holds(line, R"("store":null)"));
  exchanged.ask("GET /strict", "X-Key: k\r\n");
  CHECK(exchanged.response().status == 200);
}

TEST_CASE("A request whose identity is ambiguous is answered 400") {
  Exchanged exchanged;
  exchanged.ask("GET /query?key=a&key=b");
  CHECK(exchanged.response().status == 400);
  CHECK(holds(exchanged.response().body, "query parameter"));
  CHECK(exchanged.counted(query, 400) == 1);
  CHECK(exchanged.store.questions == 0);
}

TEST_CASE("A request without a decision is answered 503 if its policy has on_failure deny") {
  Exchanged exchanged;
  std::string line;
  SECTION("at once") {
    exchanged.store.fails_at_once = store::Error::not_connected;
    line = exchanged.ask("GET /limited");
  }
  SECTION("later") {
    exchanged.store.at_once = false;
    exchanged.begin("GET /limited");
    exchanged.store.answer(store::test::epoch, store::Error::timeout);
    line = exchanged.finish();
  }
  CHECK(exchanged.response().status == 503);
  CHECK(exchanged.response().fields == "Cache-Control: no-store\r\nRetry-After: 1\r\n");
  CHECK(holds(line, R"("decision":"error","policy":"one","denied_by":null,"cost":null)"));
  CHECK(exchanged.store.settle_calls == 0);
}

TEST_CASE("A delayed request waits for its turn, and an abort ends the wait") {
  Exchanged exchanged;
  exchanged.ask("GET /leaky");
  exchanged.begin("GET /leaky");
  CHECK_FALSE(exchanged.has_ended);
  CHECK(exchanged.client.watchdog.phase() == Phase::delay);
  exchanged.world.tick(10s);
  CHECK_FALSE(exchanged.has_ended);
  exchanged.client.watchdog.abort();
  const std::string line = exchanged.finish();
  CHECK_FALSE(exchanged.client.responder.has_begun());
  CHECK(exchanged.counted(leaky, 200) == 1);  // the first
  CHECK(exchanged.counted(leaky, 444) == 1);
  CHECK(exchanged.store.settle_calls == 2);
  CHECK(holds(line, R"("status":444,"aborted_by":"shutdown")"));
  CHECK(holds(line, R"("decision":"delayed","policy":"leaky")"));
  CHECK(holds(line, R"("delay_us":3600000000)"));
}

TEST_CASE("A request whose client left while it waited for its turn is not forwarded") {
  Exchanged exchanged;
  exchanged.ask("GET /leaky");
  exchanged.begin("GET /leaky");
  exchanged.client.watchdog.client_left();
  const std::string line = exchanged.finish();
  CHECK(holds(line, R"("status":499,"aborted_by":"client")"));
  CHECK(holds(line, R"("upstream":null)"));
}

TEST_CASE("An exchange that is aborted while the store decides sends nothing") {
  Exchanged exchanged;
  exchanged.store.at_once = false;
  exchanged.begin("GET /leaky");
  exchanged.client.watchdog.abort();
  exchanged.world.poll();
  CHECK_FALSE(exchanged.has_ended);
  exchanged.store.answer(store::test::epoch);
  exchanged.finish();
  CHECK_FALSE(exchanged.client.responder.has_begun());
  CHECK(exchanged.counted() == 1);  // 444
}

TEST_CASE("OPTIONS with Max-Forwards is answered by Weir when it has come to its end") {
  const auto [value, status] = GENERATE(table<std::string, int>({{"0", 204}, {"x", 400}}));
  Exchanged exchanged;
  exchanged.ask("OPTIONS /up", "Max-Forwards: " + value + "\r\n");
  CHECK(exchanged.response().status == status);
  CHECK(exchanged.response().is_weirs_own);
  CHECK(exchanged.response().fields == (status == 204 ? http::lines_of(allow_field()) : ""));
  CHECK(exchanged.upstream.accept() == nullptr);
}

TEST_CASE("A request that has passed through this process is answered 508") {
  Exchanged exchanged;
  exchanged.ask("GET /up", "Via: 1.1 " + std::string(proxy::via_name()) + "\r\n");
  CHECK(exchanged.response().status == 508);
  CHECK(holds(exchanged.response().body, "forwarding loop detected"));
  CHECK(exchanged.upstream.accept() == nullptr);
}

namespace {

/// A request whose head the upstream has received.
struct AtUpstream : Exchanged {
  explicit AtUpstream(const std::string& request_line = "GET /up", const std::string& fields = "") {
    begin(request_line, fields);
    world.run_until([&] { return (server = upstream.accept()) != nullptr; });
    std::string received;
    world.run_until([&] {
      received += server->receive();
      return received.ends_with("\r\n\r\n");
    });
  }
  std::unique_ptr<FarEnd> server;
};

}  // namespace

TEST_CASE("A forwarded response is relayed, counted and logged with its upstream") {
  AtUpstream exchanged("POST /up", "Content-Length: 4\r\n");
  exchanged.client.body.arrive("body");
  exchanged.client.body.end();
  exchanged.server->send("HTTP/1.1 201 Created\r\nContent-Length: 3\r\n\r\nnew");
  const std::string line = exchanged.finish();
  CHECK(exchanged.response().status == 201);
  CHECK_FALSE(exchanged.response().is_weirs_own);
  CHECK(exchanged.response().body == "new");
  CHECK(exchanged.counted(up, 201) == 1);
  CHECK(exchanged.counted() == 1);
  CHECK(holds(
      line,
      R"("route":"up","plan":null,"status":201,"aborted_by":null,"bytes_in":4,"bytes_out":3,)"));
  CHECK(holds(line, R"("upstream":"up","upstream_server":"127.0.0.1:)"));
  CHECK_FALSE(holds(line, R"("upstream_us":null)"));
  CHECK(holds(line, R"("upstream_error":null)"));
}

TEST_CASE("A failure is answered as long as no response has begun, else the response is cut") {
  AtUpstream exchanged;
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  SECTION("a malformed head") {
    exchanged.server->send("SSH-2.0\r\n");
    CHECK(holds(exchanged.finish(), R"("upstream_error":"invalid")"));
    CHECK(exchanged.response().status == 502);
    CHECK(exchanged.client.responder.resets == 0);
    CHECK(exchanged.counted(up, 502) == 1);
  }
  SECTION("a malformed first chunk") {
    exchanged.server->send(chunked + "zz\r\n");
    CHECK(holds(exchanged.finish(), R"("status":502,"aborted_by":null,)"));
    CHECK(exchanged.response().status == 502);
    CHECK(exchanged.response().is_weirs_own);
    CHECK(exchanged.client.responder.resets == 0);
    CHECK(exchanged.counted(up, 502) == 1);
  }
  SECTION("a malformed later chunk") {
    exchanged.server->send(chunked + "2\r\nab\r\n");
    exchanged.world.run_until([&] { return exchanged.response().body == "ab"; });
    exchanged.server->send("zz\r\n");
    CHECK(holds(exchanged.finish(), R"("status":200,"aborted_by":"upstream",)"));
    CHECK_FALSE(exchanged.response().is_whole);
    CHECK(exchanged.client.responder.resets == 1);
    CHECK(exchanged.counted(up, 200) == 1);
  }
  CHECK(exchanged.counted() == 1);
}

TEST_CASE("A client that leaves before its response is logged as 499") {
  AtUpstream exchanged;
  exchanged.client.watchdog.client_left();
  const std::string line = exchanged.finish();
  CHECK_FALSE(exchanged.client.responder.has_begun());
  CHECK(exchanged.counted(up, 499) == 1);
  CHECK(holds(line, R"("status":499,)"));
}

TEST_CASE("The status of a client that has left is not that of its next request") {
  AtUpstream exchanged;
  exchanged.client.watchdog.client_left();
  REQUIRE(holds(exchanged.finish(), R"("status":499,)"));
  exchanged.store.at_once = false;
  exchanged.begin("GET /limited");
  exchanged.client.watchdog.abort();
  exchanged.store.answer(store::test::epoch);
  CHECK(holds(exchanged.finish(), R"("status":444,"aborted_by":"shutdown",)"));
}

TEST_CASE("A client that leaves within its response is logged with the response's status") {
  AtUpstream exchanged;
  exchanged.server->send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart");
  exchanged.world.run_until([&] { return exchanged.response().body == "part"; });
  exchanged.client.watchdog.client_left();
  const std::string line = exchanged.finish();
  CHECK(exchanged.client.responder.resets == 1);
  CHECK(holds(line, R"("status":200,)"));
}

TEST_CASE("An exchange leaves nothing of a request to the next one") {
  Exchanged exchanged;
  exchanged.ask("GET /limited");
  exchanged.ask("GET /limited");
  REQUIRE(exchanged.response().status == 429);
  const std::string line = exchanged.ask("GET /none");
  CHECK(exchanged.response().status == 404);
  CHECK(exchanged.response().limit_fields.empty());
  CHECK(holds(line, R"("route":null)"));
  CHECK(holds(
      line,
      R"("decision":null,"policy":null,"denied_by":null,"cost":null,"reserved":null,"settled_by":null,"remaining":null)"));
  CHECK(exchanged.counted(unrouted, 404) == 1);
}

TEST_CASE("An exchange keeps its configuration until it is released") {
  Exchanged exchanged;
  exchanged.ask("GET /fixed");
  CHECK(exchanged.exchange.generation().is_pinned());
  const Generation& generation = exchanged.exchange.generation();
  exchanged.exchange.release();
  CHECK_FALSE(generation.is_pinned());
}

TEST_CASE("A grant that an error has left open is settled when the exchange is released") {
  Exchanged exchanged;
  exchanged.begin("GET /limited");
  exchanged.world.run_until([&] { return exchanged.has_ended; });
  CHECK(exchanged.store.settle_calls == 0);
  exchanged.exchange.release();
  CHECK(exchanged.store.settle_calls == 1);
}

}  // namespace weir::proxy::test
