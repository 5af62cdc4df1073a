// The grant of an admitted request is settled exactly once, however the exchange ends. The store is
// a fake that counts; the test controls clients, upstreams and coarse time.
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>

#include "catch.hpp"
#include "proxy/downstream_connection.hpp"
#include "unit/loop/stream_pair.hpp"
#include "unit/proxy/test_server.hpp"
#include "unit/proxy/world.hpp"
#include "unit/store/fake_store.hpp"

namespace weir::proxy::test {
namespace {

thread_local bool next_allocation_fails = false;  // the log's thread allocates as well

/// Admits at once, according to its policy; then the next allocation may fail.
class CountingStore final : public store::Store {
 public:
  std::optional<store::Result> acquire(store::Acquisition& acquisition,
                                       store::Completion& completion, Instant now) override {
    const auto result = inner.acquire(acquisition, completion, now);
    next_allocation_fails = then_no_memory;
    return result;
  }
  std::optional<store::Result> peek(store::Acquisition& acquisition, store::Completion& completion,
                                    Instant now) override {
    return inner.peek(acquisition, completion, now);
  }
  std::optional<store::Result> forget(const store::Key& key, store::Completion& completion,
                                      Instant now) override {
    return inner.forget(key, completion, now);
  }
  void settle(std::span<const store::Settlement> settlements, Instant now) override {
    inner.settle(settlements, now);
  }

  store::test::FakeStore inner;
  bool then_no_memory = false;
};

/// Weir answers GET itself and forwards all other methods; two requests are admitted.
Configuration grant_settings(std::uint16_t upstream_port) {
  Configuration settings;
  settings.limiter.identities.push_back(
      {.name = "client", .source = {identity::FromClientAddress{}}});
  auto& policy = settings.limiter.policies.emplace_back();
  policy.name = "two";
  policy.numbers = store::test::gcra(2);
  settings.upstreams = {upstream_at({upstream_port})};
  settings.upstreams[0].retries = 0;
  options::Route fixed;
  fixed.name = "fixed";
  fixed.match.methods = {"GET"};
  fixed.limits.resize(1);
  options::Route forwarded;
  forwarded.name = "forwarded";
  forwarded.upstream = 0;
  forwarded.limits.resize(1);
  settings.proxy.routes = {fixed, forwarded};
  return settings;
}

/// One client connection, with a world of its own.
class Client {
 public:
  Client() {
    store.inner.at_once = true;
    const auto ends = socket_pair();
    client.emplace(ends[0]);
    DownstreamConnection::start(world.context, connections_, loop::Descriptor(ends[1]),
                                IpAddress::v4({192, 0, 2, 1}), {});
  }
  ~Client() { next_allocation_fails = false; }

  void forward() {
    client->send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    world.run_until([&] {
      if (!server) server = upstream.accept();
      return server && !server->receive().empty();
    });
    CHECK(store.inner.questions == 1);
    CHECK(store.inner.settle_calls == 0);
  }
  bool has_answer(std::string_view status) {
    received += client->receive();
    return received.find(status) != std::string::npos;
  }
  bool connection_has_ended() const { return world.context.connections.empty(); }
  void settled_once() const {
    CHECK(store.inner.questions == 1);
    CHECK(store.inner.settle_calls == 1);
    CHECK(store.inner.settled.empty());  // the current algorithms hold nothing
  }

 private:
  ListenerConnections connections_;

 public:
  CountingStore store;
  TestServer upstream;
  World world{grant_settings(upstream.port()), store};
  std::optional<FarEnd> client;
  std::unique_ptr<FarEnd> server;
  std::string received;
};

}  // namespace

TEST_CASE("The grant is settled when the answer is sent, for each admitted request once") {
  Client client;
  for (int i = 1; i <= 2; ++i) {
    client.client->send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    client.world.run_until([&] { return client.store.inner.settle_calls == i; });
    CHECK(client.has_answer("HTTP/1.1 200"));
  }
  // A denied request owns nothing.
  client.client->send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  client.world.run_until([&] { return client.has_answer("HTTP/1.1 429"); });
  CHECK(client.store.inner.questions == 3);
  client.client->close();
  client.world.run_until([&] { return client.connection_has_ended(); });
  CHECK(client.store.inner.settle_calls == 2);
}

TEST_CASE("The grant is held until an upstream's answer has ended") {
  Client client;
  client.forward();
  client.server->send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbo");
  client.world.run_until([&] { return client.has_answer("bo"); });
  CHECK(client.store.inner.settle_calls == 0);
  client.server->send("dy");
  client.world.run_until([&] { return client.has_answer("body"); });
  client.settled_once();
}

TEST_CASE("The grant of a client that has left is settled") {
  Client client;
  client.forward();
  client.client->close();
  client.world.tick_until([&] { return client.connection_has_ended(); });
  client.settled_once();
}

TEST_CASE("The grant is settled when the upstream fails") {
  Client client;
  SECTION("it refuses the connection") {
    client.upstream.close();
    client.client->send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
  }
  SECTION("it closes without an answer") {
    client.forward();
    client.server.reset();
  }
  client.world.run_until([&] { return client.has_answer("HTTP/1.1 502"); });
  client.settled_once();
}

TEST_CASE("The grant is settled when the upstream does not answer in time") {
  Client client;
  client.forward();
  client.world.tick_until([&] { return client.has_answer("HTTP/1.1 504"); });
  client.settled_once();
}

TEST_CASE("The grant is settled when the worker ends its connections") {
  Client client;
  client.forward();
  client.world.context.abort();
  client.world.run_until([&] { return client.connection_has_ended(); });
  client.settled_once();
}

TEST_CASE("The grant is settled when an exception ends the exchange") {
  Client client;
  client.store.then_no_memory = true;
  client.client->send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
  client.world.run_until([&] { return client.connection_has_ended(); });
  CHECK_FALSE(next_allocation_fails);  // the failed allocation was the reason
  CHECK_FALSE(client.has_answer("HTTP"));
  client.settled_once();
}

TEST_CASE("The grant is settled when the store admits after the request has ended") {
  Client client;
  client.store.inner.at_once = false;
  client.client->send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  client.world.run_until([&] { return client.store.inner.questions == 1; });
  SECTION("the client has left") {
    client.client->close();
  }
  SECTION("the worker ends its connections") {
    client.world.context.abort();
  }
  SECTION("all is well") {}
  client.world.poll();
  CHECK(client.store.inner.settle_calls == 0);
  CHECK_FALSE(client.connection_has_ended());
  client.store.inner.answer(instant_from_us(1'700'000'000'000'000));
  client.world.run_until([&] { return client.store.inner.settle_calls == 1; });
  client.client->close();
  client.world.run_until([&] { return client.connection_has_ended(); });
  client.settled_once();
}

}  // namespace weir::proxy::test

void* operator new(std::size_t size) {
  using weir::proxy::test::next_allocation_fails;
  void* const memory = next_allocation_fails ? nullptr : std::malloc(size);
  next_allocation_fails = false;
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
