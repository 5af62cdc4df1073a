// The grant of an admitted request is settled exactly once, whatever ends the exchange. The store
// is a fake one that counts; clients, upstreams and the coarse time are the test's.
#include <atomic>
#include <cstdlib>
#include <new>
#include <optional>

#include <boost/asio/ip/tcp.hpp>

#include "base/line_writer.hpp"
#include "catch.hpp"
#include "limiter/limiter.hpp"
#include "proxy/context.hpp"
#include "proxy/descriptor_budget.hpp"
#include "proxy/http1_connection.hpp"
#include "unit/proxy/stream_pair.hpp"
#include "unit/store/fake_store.hpp"

namespace weir::proxy::test {
namespace {

bool next_allocation_fails = false;

using namespace std::chrono_literals;
using Tcp = boost::asio::ip::tcp;

/// Admits as its rule says, at once; then the next allocation may fail.
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

/// GET is answered by Weir, all else forwarded; two requests are admitted.
Settings settings_for(std::uint16_t upstream_port) {
  Settings settings;
  settings.identities.push_back({.name = "client", .source = {identity::FromClientAddress{}}});
  auto& policy = settings.policies.emplace_back();
  policy.name = "two";
  policy.rule = store::test::gcra(2);
  auto& upstream = settings.upstreams.emplace_back();
  upstream.name = "up";
  upstream.retries = 0;
  auto& server = upstream.servers.emplace_back();
  server.host = "127.0.0.1";
  server.port = upstream_port;
  Route fixed;
  fixed.name = "fixed";
  fixed.match.methods = {"GET"};
  fixed.limits.resize(1);
  Route forwarded;
  forwarded.name = "forwarded";
  forwarded.upstream = 0;
  forwarded.limits.resize(1);
  settings.routes = {fixed, forwarded};
  return settings;
}

class World {
 public:
  World() {
    store.inner.at_once = true;
    const auto ends = socket_pair();
    client.emplace(ends[0]);
    Socket socket(io_.get_executor(), asio::generic::stream_protocol(AF_UNIX, 0), ends[1]);
    socket.non_blocking(true);
    context.use(generation());
    Http1Connection::start(context, connections_, std::move(socket),
                           identity::IpAddress::v4({192, 0, 2, 1}), {});
  }
  ~World() {
    next_allocation_fails = false;
    context.abort();
    poll();
  }

  template <class Condition>
  void run_until(Condition&& condition) {
    for (int i = 0; i < 1'000 && !condition(); ++i) {
      io_.restart();
      io_.run_for(10ms);
    }
    REQUIRE(condition());
  }
  void poll() {
    io_.restart();
    io_.poll();
  }
  /// Until `condition`, while coarse time passes.
  template <class Condition>
  void tick_until(Condition&& condition) {
    for (int i = 0; i < 1'000 && !condition(); ++i) {
      context.tick();
      poll();
    }
    REQUIRE(condition());
  }
  void forward() {
    client->send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    std::optional<Tcp::socket> accepted;
    run_until([&] {
      if (!accepted) accepted = accept();
      return accepted && accepted->available() > 0;
    });
    server = std::move(*accepted);
    CHECK(store.inner.questions == 1);
    CHECK(store.inner.settle_calls == 0);
  }
  std::optional<Tcp::socket> accept() {
    boost::system::error_code ec;
    Tcp::socket socket(io_);
    acceptor_.accept(socket, ec);
    if (ec) return std::nullopt;
    return socket;
  }
  void close_upstream() { acceptor_.close(); }
  bool has_answer(std::string_view status) {
    received += client->receive();
    return received.find(status) != std::string::npos;
  }
  bool connection_has_ended() const { return context.connections.empty(); }
  void settled_once() const {
    CHECK(store.inner.questions == 1);
    CHECK(store.inner.settle_calls == 1);
    CHECK(store.inner.settled.empty());  // today's algorithms hold nothing
  }

 private:
  asio::io_context io_{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO};
  Tcp::acceptor acceptor_ = listening(io_);
  const std::shared_ptr<const Settings> settings_ =
      std::make_shared<Settings>(settings_for(acceptor_.local_endpoint().port()));
  std::unique_ptr<LineWriter> writer_ = std::move(LineWriter::open("/dev/null").value());
  const MonotonicClock clock_;
  std::atomic<std::size_t> open_connections_{0};
  std::atomic<std::size_t> open_refusals_{0};
  DescriptorBudget descriptors_{64, open_connections_};
  TrafficCounters counters_;
  ListenerConnections connections_;

  std::unique_ptr<Generation> generation() {
    auto counters = std::make_shared<NamedCounters>();
    for (std::size_t i = 0; i <= settings_->routes.size(); ++i)
      counters->routes.push_back(std::make_shared<RouteCounters>());
    counters->upstreams = {std::make_shared<UpstreamCounters>()};
    counters->servers_in_use = {{std::make_shared<Gauge>()}};
    std::vector<std::unique_ptr<UpstreamPool>> pools;
    pools.push_back(
        std::make_unique<UpstreamPool>(context.upstream_needs(),
                                       UpstreamParts{.settings = settings_->upstreams[0],
                                                     .in_use = counters->servers_in_use[0],
                                                     .tls = nullptr},
                                       nullptr, 1));
    return std::make_unique<Generation>(
        GenerationParts{.blueprint = std::make_shared<Blueprint>(settings_),
                        .store = nullptr,
                        .limiter = std::make_unique<limiter::Limiter>(*settings_, store),
                        .counters = std::move(counters),
                        .access_log = std::make_shared<AccessLog>(AccessLogOptions{}, *writer_),
                        .pools = std::move(pools)},
        1);
  }

  static Tcp::acceptor listening(asio::io_context& io) {
    Tcp::acceptor acceptor(io, {boost::asio::ip::address_v4::loopback(), 0});
    acceptor.non_blocking(true);
    return acceptor;
  }

 public:
  CountingStore store;
  Context context{{.io = io_,
                   .counters = counters_,
                   .clock = clock_,
                   .open_connections = open_connections_,
                   .open_refusals = open_refusals_,
                   .descriptors = descriptors_},
                  1};
  std::optional<FarEnd> client;
  std::optional<Tcp::socket> server;
  std::string received;
};

}  // namespace

TEST_CASE("The grant is settled when the answer is sent, for each admitted request once") {
  World world;
  for (int i = 1; i <= 2; ++i) {
    world.client->send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    world.run_until([&] { return world.store.inner.settle_calls == i; });
    CHECK(world.has_answer("HTTP/1.1 200"));
  }
  // A denied request owns nothing.
  world.client->send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  world.run_until([&] { return world.has_answer("HTTP/1.1 429"); });
  CHECK(world.store.inner.questions == 3);
  world.client->close();
  world.run_until([&] { return world.connection_has_ended(); });
  CHECK(world.store.inner.settle_calls == 2);
}

TEST_CASE("The grant is held until an upstream's answer has ended") {
  World world;
  world.forward();
  asio::write(*world.server,
              asio::buffer(std::string_view("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbo")));
  world.run_until([&] { return world.has_answer("bo"); });
  CHECK(world.store.inner.settle_calls == 0);
  asio::write(*world.server, asio::buffer(std::string_view("dy")));
  world.run_until([&] { return world.has_answer("body"); });
  world.settled_once();
}

TEST_CASE("The grant of a client that has left is settled") {
  World world;
  world.forward();
  world.client->close();
  world.tick_until([&] { return world.connection_has_ended(); });
  world.settled_once();
}

TEST_CASE("The grant is settled when the upstream fails") {
  World world;
  SECTION("it refuses the connection") {
    world.close_upstream();
    world.client->send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
  }
  SECTION("it closes without an answer") {
    world.forward();
    world.server.reset();
  }
  world.run_until([&] { return world.has_answer("HTTP/1.1 502"); });
  world.settled_once();
}

TEST_CASE("The grant is settled when the upstream does not answer in time") {
  World world;
  world.forward();
  world.tick_until([&] { return world.has_answer("HTTP/1.1 504"); });
  world.settled_once();
}

TEST_CASE("The grant is settled when the worker ends its connections") {
  World world;
  world.forward();
  world.context.abort();
  world.run_until([&] { return world.connection_has_ended(); });
  world.settled_once();
}

TEST_CASE("The grant is settled when an exception ends the exchange") {
  World world;
  world.store.then_no_memory = true;
  world.client->send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
  world.run_until([&] { return world.connection_has_ended(); });
  CHECK_FALSE(next_allocation_fails);  // it was the reason
  CHECK_FALSE(world.has_answer("HTTP"));
  world.settled_once();
}

TEST_CASE(
    "The grant is settled when a store that completes later admits, and nobody waits for it") {
  World world;
  world.store.inner.at_once = false;
  world.client->send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  world.run_until([&] { return world.store.inner.questions == 1; });
  SECTION("the client has left") {
    world.client->close();
  }
  SECTION("the worker ends its connections") {
    world.context.abort();
  }
  SECTION("all is well") {}
  world.poll();
  CHECK(world.store.inner.settle_calls == 0);
  CHECK_FALSE(world.connection_has_ended());
  world.store.inner.answer(instant_from_us(1'700'000'000'000'000));
  world.run_until([&] { return world.store.inner.settle_calls == 1; });
  world.client->close();
  world.run_until([&] { return world.connection_has_ended(); });
  world.settled_once();
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
