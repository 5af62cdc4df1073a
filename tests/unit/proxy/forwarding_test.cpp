// The server that takes a request, whether the request is repeated, and what is counted.
#include "proxy/forwarding.hpp"

#include <memory>
#include <vector>

#include "catch.hpp"
#include "proxy/attempt.hpp"
#include "unit/proxy/forward_phase.hpp"

namespace weir::proxy::test {
namespace {

using namespace std::chrono_literals;

const std::string get_head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const std::string post_head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n";
const std::string put = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\n";
const std::string ok_response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

class Forwarded : public ForwardTest {
 public:
  explicit Forwarded(
      std::string its_head, std::size_t server_count = 2, Change change = [](Configuration&) {})
      : ForwardTest(std::move(its_head), server_count, change) {}
  ~Forwarded() {
    client.watchdog.abort();
    world.run_until([&] { return !forwarding || result; });
  }

  void start() {
    result.reset();
    forwarding.emplace(phase);
    loop::spawn(world.io, note_result(forwarding->run(), result));
  }
  void start_and_receive() {
    start();
    receive_head();
  }
  Failure finish() {
    world.run_until([&] { return result.has_value(); });
    return *result;
  }
  Failure finish_in_time() {
    world.tick_until([&] { return result.has_value(); });
    return *result;
  }

  std::optional<Forwarding> forwarding;
  std::optional<Failure> result;
};

/// answered, connect_failed, timed_out, broken, unhealthy.
using Counts = std::array<std::uint64_t, 5>;
Counts counts_of(const UpstreamCounters& counters) {
  return {counters.answered.value(), counters.connect_failed.value(), counters.timed_out.value(),
          counters.broken.value(), counters.unhealthy.value()};
}

}  // namespace

TEST_CASE("Requests are forwarded to the servers in turn") {
  Forwarded forwarded(get_head);
  for (const std::size_t index : {0, 1}) {
    forwarded.start();
    forwarded.receive_head(index);
    CHECK(forwarded.record.server->port == forwarded.servers[index].port());
    forwarded.upstream->send(ok_response);
    CHECK(forwarded.finish() == Failure::none);
    forwarded.begin_request();
  }
  CHECK(forwarded.idle() == 2);
}

TEST_CASE("A request that no server accepts is tried with each once, as far as retries go") {
  Forwarded forwarded(post_head, 3,
                      [](Configuration& settings) { settings.upstreams[0].retries = 2; });
  forwarded.servers[0].close();
  forwarded.servers[1].close();
  SECTION("the third accepts it") {
    forwarded.client.body.arrive("body");
    forwarded.client.body.end();
    forwarded.start();
    forwarded.accept(2);
    forwarded.receive_until("\r\n\r\nbody");
    forwarded.upstream->send(ok_response);
    CHECK(forwarded.finish() == Failure::none);
    CHECK(forwarded.record.server->port == forwarded.servers[2].port());
    CHECK(counts_of(forwarded.phase.counters) == Counts{1, 0, 0, 0, 0});
  }
  SECTION("none accepts it") {
    forwarded.servers[2].close();
    forwarded.start();
    CHECK(forwarded.finish() == Failure::upstream_unreachable);
    CHECK(forwarded.client.body.rewinds == 2);
    CHECK(counts_of(forwarded.phase.counters) == Counts{0, 1, 0, 0, 0});
  }
  CHECK(forwarded.record.upstream == &forwarded.phase.upstream());
}

TEST_CASE("A request without retries is tried once") {
  Forwarded forwarded(get_head, 2,
                      [](Configuration& settings) { settings.upstreams[0].retries = 0; });
  forwarded.servers[0].close();
  forwarded.start();
  CHECK(forwarded.finish() == Failure::upstream_unreachable);
  CHECK(forwarded.servers[1].accept() == nullptr);
}

TEST_CASE("A request whose connection has ended is repeated on another server if it may be") {
  const auto [head, is_repeated] = GENERATE(
      table<std::string, bool>({{get_head, true}, {"POST / HTTP/1.1\r\nHost: a\r\n\r\n", false}}));
  CAPTURE(head);
  Forwarded forwarded(head);
  forwarded.start_and_receive();
  const std::string first = forwarded.received;
  forwarded.upstream.reset();
  if (is_repeated) {
    forwarded.receive_head(1);
    CHECK(forwarded.received == first);
    forwarded.upstream->send(ok_response);
    CHECK(forwarded.finish() == Failure::none);
    CHECK(counts_of(forwarded.phase.counters) == Counts{1, 0, 0, 0, 0});
  } else {
    CHECK(forwarded.finish() == Failure::upstream_broken);
    CHECK(forwarded.servers[1].accept() == nullptr);
    CHECK(counts_of(forwarded.phase.counters) == Counts{0, 0, 0, 1, 0});
  }
}

TEST_CASE("A request is repeated on the same server if its idle connection had ended") {
  Forwarded forwarded(get_head, 1,
                      [](Configuration& settings) { settings.upstreams[0].retries = 2; });
  forwarded.start_and_receive();
  forwarded.upstream->send(ok_response);
  REQUIRE(forwarded.finish() == Failure::none);
  forwarded.begin_request();
  forwarded.received.clear();
  forwarded.start();
  forwarded.receive_until("\r\n\r\n");
  forwarded.upstream.reset();
  forwarded.receive_head();  // on a new connection
  SECTION("and answered there") {
    forwarded.upstream->send(ok_response);
    CHECK(forwarded.finish() == Failure::none);
  }
  SECTION("but only once: the new one might have been closed because of the request") {
    forwarded.upstream.reset();
    CHECK(forwarded.finish() == Failure::upstream_broken);
    CHECK(forwarded.servers[0].accept() == nullptr);
  }
}

TEST_CASE("After an idle connection that had ended no other idle one is trusted") {
  Forwarded forwarded(get_head, 1);
  std::vector<std::unique_ptr<FarEnd>> idle;
  for (int i = 0; i < 2; ++i) {
    Attempt attempt(forwarded.phase, forwarded.server());
    std::optional<Failure> failure;
    loop::spawn(forwarded.world.io, note_result(attempt.run(false), failure));
    forwarded.receive_head();
    forwarded.upstream->send(ok_response);
    forwarded.world.run_until([&] { return failure.has_value(); });
    idle.push_back(std::move(forwarded.upstream));
    forwarded.begin_request();
  }
  REQUIRE(forwarded.idle() == 2);
  forwarded.start();
  forwarded.world.run_until([&] { return !idle[1]->receive().empty(); });
  idle[1].reset();
  forwarded.receive_head();  // on a new connection
  CHECK(idle[0]->receive().empty());
}

TEST_CASE("The body is sent again from its first byte, and the rest as it arrives") {
  Forwarded forwarded(put);
  forwarded.client.body.arrive("one ");
  forwarded.start();
  forwarded.accept();
  forwarded.receive_until("one ");
  forwarded.client.body.arrive("tw");
  forwarded.receive_until("one tw");
  forwarded.upstream.reset();
  forwarded.accept(1);
  forwarded.receive_until("\r\n\r\none tw");
  CHECK(forwarded.client.body.rewinds == 1);
  forwarded.client.body.arrive("o ");
  forwarded.client.body.end();
  forwarded.receive_until("\r\n\r\none two ");
  forwarded.upstream->send(ok_response);
  CHECK(forwarded.finish() == Failure::none);
}

TEST_CASE("A request whose body was not kept is not repeated") {
  Forwarded forwarded(put, 2,
                      [](Configuration& settings) { settings.upstreams[0].retry_body = 0; });
  forwarded.start();
  forwarded.accept();
  forwarded.client.body.arrive("one ");
  forwarded.receive_until("one ");
  forwarded.upstream.reset();
  CHECK(forwarded.finish() == Failure::upstream_broken);
  CHECK(forwarded.servers[1].accept() == nullptr);
  CHECK(forwarded.client.body.rewinds == 0);
}

TEST_CASE("A request is not repeated when its response has begun, or its client has left") {
  Forwarded forwarded(get_head);
  forwarded.start_and_receive();
  Failure expected = Failure::downstream_gone;
  SECTION("a byte of the response has arrived") {
    forwarded.upstream->send("H");
    forwarded.upstream.reset();
    expected = Failure::upstream_broken;
  }
  SECTION("the client has a part of it") {
    forwarded.upstream->send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart");
    forwarded.world.run_until([&] { return forwarded.client_has("part"); });
    forwarded.upstream.reset();
    expected = Failure::upstream_broken;
  }
  SECTION("the client has left") {
    forwarded.client.watchdog.client_left();
  }
  SECTION("the worker ends its connections") {
    forwarded.client.watchdog.abort();
  }
  CHECK(forwarded.finish() == expected);
  CHECK(forwarded.servers[1].accept() == nullptr);
}

TEST_CASE("A server that does not accept connections in time is tried once") {
  Forwarded forwarded(get_head, 2, [](Configuration& settings) {
    settings.upstreams[0].retries = 3;
    settings.upstreams[0].connect_timeout = 300ms;
  });
  forwarded.servers[0].fill_queue();
  SECTION("another one accepts") {
    forwarded.start();
    forwarded.world.tick_until([&] {
      forwarded.upstream = forwarded.servers[1].accept();
      return forwarded.upstream != nullptr;
    });
    forwarded.upstream->send(ok_response);
    CHECK(forwarded.finish() == Failure::none);
    CHECK_FALSE(forwarded.client.watchdog.timed_out());
  }
  SECTION("no other one accepts") {
    forwarded.servers[1].fill_queue();
    forwarded.start();
    CHECK(forwarded.finish_in_time() == Failure::upstream_connect_timeout);
    CHECK(counts_of(forwarded.phase.counters) == Counts{0, 1, 0, 0, 0});
  }
}

TEST_CASE("Without a healthy server nothing is tried") {
  Forwarded forwarded(get_head, 1);
  forwarded.server().checked(false);
  forwarded.start();
  CHECK(forwarded.finish() == Failure::upstream_unhealthy);
  CHECK(forwarded.record.server == nullptr);
  CHECK(counts_of(forwarded.phase.counters) == Counts{0, 0, 0, 0, 1});
}

TEST_CASE("The outcome of a request is counted for its upstream") {
  Forwarded forwarded(get_head, 1);
  std::vector<std::string> warnings;
  forwarded.world.context.log = [&](const std::string& text) { warnings.push_back(text); };
  forwarded.start_and_receive();
  Counts expected{};
  SECTION("answered") {
    forwarded.upstream->send(ok_response);
    expected = {1, 0, 0, 0, 0};
  }
  SECTION("timed out") {
    forwarded.finish_in_time();
    expected = {0, 0, 1, 0, 0};
  }
  SECTION("broken") {
    forwarded.upstream.reset();
    expected = {0, 0, 0, 1, 0};
  }
  SECTION("invalid: counted as broken, with a warning") {
    forwarded.upstream->send("SSH-2.0\r\n");
    expected = {0, 0, 0, 1, 0};
  }
  SECTION("the client leaves before the response has begun: not counted") {
    forwarded.client.watchdog.client_left();
  }
  SECTION("the client leaves within the response: answered") {
    forwarded.upstream->send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart");
    forwarded.world.run_until([&] { return forwarded.client_has("part"); });
    forwarded.client.watchdog.client_left();
    expected = {1, 0, 0, 0, 0};
  }
  const Failure failure = forwarded.finish();
  CHECK(counts_of(forwarded.phase.counters) == expected);
  REQUIRE(warnings.size() == (failure == Failure::upstream_invalid ? 1 : 0));
  if (!warnings.empty()) {
    CHECK(warnings[0] == "upstream up: " + forwarded.record.server->authority() +
                             " sent an answer that is not valid HTTP");
  }
}

}  // namespace weir::proxy::test
