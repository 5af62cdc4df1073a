// The failures of a try on one upstream connection, and the side at fault.
#include "catch.hpp"
#include "proxy/attempt.hpp"
#include "unit/proxy/tried.hpp"

namespace weir::proxy::test {

using namespace std::chrono_literals;

TEST_CASE("The time for each phase of an attempt is limited") {
  const auto change = [](Configuration& settings) {
    settings.upstreams[0].connect_timeout = 500ms;
    settings.upstreams[0].response_timeout = 2s;
    settings.proxy.downstream.body_timeout = 3s;
  };
  SECTION("connect") {
    Tried tried(get, change);
    tried.servers[0].fill_queue();
    tried.start();
    CHECK(tried.finish_in_time() == Failure::upstream_connect_timeout);
    CHECK(tried.server().last_error() == "no connection in time");
  }
  SECTION("response") {
    Tried tried(get, change);
    tried.start_and_receive();
    tried.world.tick(1'900ms);
    CHECK_FALSE(tried.has_ended());
    CHECK(tried.client.watchdog.phase() == Phase::response);
    CHECK(tried.finish_in_time() == Failure::upstream_timed_out);
  }
  SECTION("relay") {
    Tried tried(get, change);
    tried.start_and_receive();
    tried.upstream->send(begun);
    tried.world.run_until([&] { return tried.client_has("begun"); });
    CHECK(tried.client.watchdog.phase() == Phase::relay);
    tried.world.tick(2'900ms);
    CHECK_FALSE(tried.has_ended());
    CHECK(tried.finish_in_time() == Failure::upstream_timed_out);
    CHECK_FALSE(tried.response().is_whole);
  }
  SECTION("send request") {
    Tried tried(long_post, change);
    tried.start_with_long_body();
    CHECK(tried.finish_in_time() == Failure::upstream_timed_out);
  }
  SECTION("body") {
    Tried tried(post, change);
    tried.start_and_receive();
    tried.world.run_until([&] { return tried.client.body.is_waited_for(); });
    CHECK(tried.client.watchdog.phase() == Phase::body);
    CHECK(tried.finish_in_time() == Failure::body_timed_out);
  }
}

TEST_CASE(
    "The deadline of a call shortens the wait for the response, and is no fault of the server") {
  Tried tried(get, [](Configuration& settings) {
    settings.upstreams[0].response_timeout = 2s;
    settings.proxy.downstream.body_timeout = 3s;
  });
  SECTION("it is earlier than the timeout") {
    tried.phase.deadline = tried.record.begun_at + 1s;
    tried.start_and_receive();
    CHECK(tried.finish_in_time() == Failure::deadline_passed);
    const FailedTry failed = tried.attempt->failed(Failure::deadline_passed);
    CHECK_FALSE(is_servers_fault(failed));
    CHECK_FALSE(may_repeat(failed));
  }
  SECTION("it has passed before the attempt") {
    tried.phase.deadline = tried.record.begun_at - 1s;
    tried.start_and_receive();
    CHECK(tried.finish_in_time() == Failure::deadline_passed);
  }
  SECTION("it is later") {
    tried.phase.deadline = tried.record.begun_at + 1h;
    tried.start_and_receive();
    CHECK(tried.finish_in_time() == Failure::upstream_timed_out);
  }
  SECTION("it passes after the response has begun") {
    tried.phase.deadline = tried.record.begun_at + 1s;
    tried.start_and_receive();
    tried.upstream->send(begun);
    tried.world.run_until([&] { return tried.client_has("begun"); });
    CHECK(tried.finish_in_time() == Failure::deadline_passed);
  }
  SECTION("it has passed when another piece of the response arrives: no wait is needed for it") {
    tried.phase.deadline = tried.record.begun_at + 1h;
    tried.start_and_receive();
    tried.upstream->send("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nbegun");
    tried.world.run_until([&] { return tried.client_has("begun"); });
    tried.phase.deadline = tried.record.begun_at - 1s;
    tried.upstream->send("more");
    CHECK(tried.finish() == Failure::deadline_passed);
  }
  SECTION("it has passed when the server ends the response, before a wait ends by it") {
    tried.phase.deadline = tried.record.begun_at + 1h;
    tried.start_and_receive();
    tried.phase.deadline = tried.record.begun_at - 1s;
    tried.upstream->close();
    CHECK(tried.finish() == Failure::deadline_passed);
  }
  SECTION("it is later than the time between two pieces of the response") {
    tried.phase.deadline = tried.record.begun_at + 1h;
    tried.start_and_receive();
    tried.upstream->send(begun);
    tried.world.run_until([&] { return tried.client_has("begun"); });
    CHECK(tried.finish_in_time() == Failure::upstream_timed_out);
  }
}

TEST_CASE("The deadline of a call shortens the wait for its messages") {
  Tried tried(post, [](Configuration& settings) { settings.proxy.downstream.body_timeout = 3s; });
  tried.phase.deadline = tried.record.begun_at + 1s;
  tried.start_and_receive();
  tried.world.run_until([&] { return tried.client.body.is_waited_for(); });
  CHECK(tried.finish_in_time() == Failure::deadline_passed);
}

TEST_CASE("An attempt ends early if the client leaves or the worker ends its connections") {
  Tried tried(get);
  Watchdog& watchdog = tried.client.watchdog;
  SECTION("abort while it connects") {
    tried.servers[0].fill_queue();
    tried.start();
    tried.world.poll();
    watchdog.abort();
  }
  SECTION("abort while it waits for the response") {
    tried.start_and_receive();
    watchdog.abort();
  }
  SECTION("abort before it reads the rest of a head") {
    tried.start_and_receive();
    tried.upstream->send("HTTP/1.1 2");
    watchdog.abort();
  }
  SECTION("the client leaves while the response is waited for") {
    tried.start_and_receive();
    watchdog.client_left();
  }
  SECTION("the client leaves while the response is relayed") {
    tried.start_and_receive();
    tried.upstream->send(begun);
    tried.world.run_until([&] { return tried.client_has("begun"); });
    watchdog.client_left();
  }
  SECTION("the client takes no response") {
    tried.start_and_receive();
    tried.client.responder.fails = true;
    tried.upstream->send(ok);
  }
  SECTION("the client takes no interim response") {
    tried.start_and_receive();
    tried.client.responder.fails = true;
    tried.upstream->send("HTTP/1.1 103 Early Hints\r\n\r\n");
  }
  CHECK(tried.finish() == Failure::downstream_gone);
  CHECK(tried.idle() == 0);
}

TEST_CASE("An abort while the request is sent is no fault of the server") {
  Tried tried(long_post);
  tried.start_with_long_body();
  tried.client.watchdog.abort();
  CHECK(tried.finish() == Failure::downstream_gone);
}

TEST_CASE("A connection that ends before the response is complete is broken") {
  const auto [sent, was_answered] =
      GENERATE(table<std::string, bool>({{"", false}, {"HTTP/1.1 2", true}, {begun, true}}));
  CAPTURE(sent);
  Tried tried(get);
  tried.start_and_receive();
  tried.upstream->send(sent);
  tried.upstream.reset();
  CHECK(tried.finish() == Failure::upstream_broken);
  const FailedTry failed = tried.attempt->failed(*tried.result);
  CHECK(failed.failure == Failure::upstream_broken);
  CHECK(failed.is_idempotent);
  CHECK(failed.body_is_kept);
  CHECK(failed.was_answered == was_answered);
  CHECK(failed.answer_has_begun == was_answered);
  CHECK_FALSE(failed.was_idle);
}

TEST_CASE("A server that refuses connections is reported until it is marked down") {
  Tried tried(post);
  tried.servers[0].close();
  for (int i = 0; i < upstream::Ejection::ejecting_failures; ++i) {
    CHECK_FALSE(tried.server().availability().is_out(tried.world.context.wheel.now()));
    tried.start();
    CHECK(tried.finish() == Failure::upstream_unreachable);
    const FailedTry failed = tried.attempt->failed(*tried.result);
    CHECK_FALSE(failed.is_idempotent);
    tried.attempt->report(failed);
  }
  CHECK(tried.server().availability().is_out(tried.world.context.wheel.now()));
  CHECK(tried.server().last_error() == "Connection refused");
}

TEST_CASE("An attempt without a descriptor is no fault of the server") {
  Tried tried(get);
  tried.world.descriptors.set_most(0, 0);
  tried.start();
  CHECK(tried.finish() == Failure::overloaded);
  CHECK_FALSE(is_servers_fault(tried.attempt->failed(*tried.result)));
}

}  // namespace weir::proxy::test
