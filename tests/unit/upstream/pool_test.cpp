// The choice of a server, depending on earlier results. Real connections exist only in the cases
// that test them.
#include "upstream/pool.hpp"

#include <array>
#include <list>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <utility>
#include <vector>

#include <boost/asio/ip/tcp.hpp>

#include "catch.hpp"
#include "unit/loop/stream_pair.hpp"

namespace weir::upstream {
namespace {

struct World {
  explicit World(std::vector<std::string> hosts, bool checked = false) {
    for (auto& host : hosts)
      settings.servers.push_back({.url = {}, .host = std::move(host)});
    if (checked) settings.health_check = options::HealthCheck{.path = "/"};
    reload();
  }
  /// Replaces the current pool by one with these settings.
  void reload(bool has_same_certificates = true,
              std::shared_ptr<const tls::ClientContext> tls = {}) {
    gauges.resize(settings.servers.size());
    for (auto& gauge : gauges)
      gauge = gauge ? gauge : std::make_shared<Gauge>();
    const auto give_up_idle = [this] { pool->close_idle(); };
    auto next = std::make_unique<Pool>(
        PoolDependencies{
            .servers = {.io = io, .descriptors = descriptors, .give_up_idle = give_up_idle},
            .settings = generations.emplace_back(settings),
            .in_use = gauges,
            .tls = std::move(tls),
            .has_same_certificates = has_same_certificates},
        pool.get(), 0);
    next->begin(generations.size());
    if (pool) {
      pool->retire(generations.size(),
                   [this](const PooledServer& server) { removed += server.settings().host; });
    }
    before = std::exchange(pool, std::move(next));
  }
  /// Returns the index of the chosen server, -1 for none.
  int choose(std::uint64_t tick, unsigned tried = 0) {
    const Pool::Choice choice = pool->choose(tick, ServerSet(tried));
    return choice.server == nullptr ? -1 : static_cast<int>(choice.index);
  }
  /// Chooses until this server has its turn, and returns it.
  PooledServer& server(std::size_t index, std::uint64_t tick = 0) {
    return *pool->choose(tick, ~ServerSet(1U << index)).server;
  }
  void put_out(std::size_t index, std::uint64_t tick) {
    for (int i = 0; i < Ejection::ejecting_failures; ++i)
      server(index, tick).failed(tick);
  }
  /// Returns an idle connection that leads to `address`.
  template <class Pair>
  void give(Pair& pair, PooledServer& to, const std::string& address = "192.0.2.1") {
    auto connection = pair.connect(io, to);
    connection->endpoint = {asio::ip::make_address(address), 80};
    to.give_back(std::move(connection), 10, 1);
  }
  std::string sweep(std::uint64_t tick) {
    std::string changes;
    pool->sweep(tick, [&](const PooledServer& server, bool in_use) {
      changes += (in_use ? '+' : '-') + server.settings().host;
    });
    return changes;
  }

  asio::io_context io;
  std::atomic<std::size_t> downstream{0};
  loop::DescriptorBudget descriptors{32, downstream};
  options::Upstream settings;
  std::list<options::Upstream> generations;
  std::vector<std::shared_ptr<Gauge>> gauges;
  std::unique_ptr<Pool> pool;
  std::unique_ptr<Pool> before;
  std::string removed;  ///< hosts of servers that were marked down and then removed
};

/// An established connection to any address; the test keeps the other end open.
struct Pair {
  std::unique_ptr<Connection> connect(asio::io_context&, PooledServer& server) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    auto connection = server.make();
    connection->stream.socket().assign(loop::Descriptor(ends[0]));
    other.emplace(ends[1]);
    return connection;
  }
  std::optional<loop::test::FarEnd> other;
};

TEST_CASE("a pool without https:// leaves the context to requests of the one before") {
  World pool({"a"});
  const auto context = tls::ClientContext::load({}).value();
  pool.reload(true, context);
  pool.reload(true);
  CHECK(pool.pool->state().tls == context);
}

TEST_CASE("a server that was tried is chosen again only when all were") {
  World pool({"192.0.2.1", "192.0.2.2"});
  for (int i = 0; i < 4; ++i) {
    CHECK(pool.choose(0, 0b01) == 1);
    CHECK(pool.choose(0, 0b10) == 0);
  }
  CHECK(pool.choose(0, 0b11) >= 0);
  CHECK(pool.pool->has_another(ServerSet(0b01)));
  CHECK_FALSE(pool.pool->has_another(ServerSet(0b11)));
  World alone({"192.0.2.1"});
  CHECK(alone.choose(0, 0b1) == 0);
  CHECK_FALSE(alone.pool->has_another(ServerSet(0b1)));
}

TEST_CASE("a server that is out is chosen when no other has not been tried, then on trial") {
  World pool({"192.0.2.1", "192.0.2.2"});
  pool.put_out(0, 100);
  for (int i = 0; i < 4; ++i)
    CHECK(pool.choose(100) == 1);
  CHECK(pool.choose(100, 0b10) == 0);
  // One trial a second.
  CHECK(pool.choose(110) + pool.choose(110) + pool.choose(110) == 2);
  pool.server(0, 110).answered();
  CHECK(pool.choose(110) + pool.choose(110) == 1);
}

TEST_CASE("when all are out all are used") {
  World pool({"192.0.2.1", "192.0.2.2"});
  pool.put_out(0, 100);
  pool.put_out(1, 100);
  CHECK(pool.choose(100) + pool.choose(100) == 1);
}

TEST_CASE("a server whose checks fail is not chosen at all") {
  World pool({"192.0.2.1", "192.0.2.2"}, true);
  auto& first = pool.server(0);
  auto& second = pool.server(1);
  first.checked(false);
  CHECK(pool.choose(0, 0b10) == 1);
  CHECK_FALSE(pool.pool->has_another(ServerSet(0b10)));
  second.checked(false);
  CHECK(pool.choose(0) == -1);
  first.checked(true);
  CHECK(pool.choose(0) == -1);
  first.checked(true);
  CHECK(pool.choose(0) == 0);
}

TEST_CASE("a change is reported once, and the gauge follows") {
  World pool({"192.0.2.1", "192.0.2.2"});
  CHECK(pool.sweep(10).empty());
  pool.put_out(1, 10);
  CHECK(pool.gauges[1]->value() == 1);
  CHECK(pool.sweep(20) == "-192.0.2.2");
  CHECK(pool.gauges[1]->value() == 0);
  CHECK(pool.sweep(30).empty());
  pool.server(1).answered();
  CHECK(pool.sweep(40) == "+192.0.2.2");
  CHECK(pool.gauges[1]->value() == 1);
}

TEST_CASE("an idle connection is taken again only while nothing happened on it") {
  World pool({"192.0.2.1"});
  auto& server = pool.server(0);
  Pair pair;
  const auto give = [&] { pool.give(pair, server); };
  give();
  const auto taken = server.take_idle(1);
  REQUIRE(taken != nullptr);
  CHECK(taken->reused);
  CHECK(server.take_idle(1) == nullptr);

  SECTION("an unexpected byte") {
    give();
    pair.other->send("!");
    CHECK(server.take_idle(1) == nullptr);
  }
  SECTION("an end") {
    give();
    pair.other.reset();
    CHECK(server.take_idle(1) == nullptr);
  }
  SECTION("bytes that were read and belong to no answer") {
    auto connection = pair.connect(pool.io, server);
    connection->input.append("HTTP/1.1 200");
    server.give_back(std::move(connection), 10, 1);
    CHECK(server.take_idle(1) == nullptr);
  }
  SECTION("idle for too long") {
    give();
    const auto idle_ticks = loop::ticks_in(pool.settings.idle_timeout);
    pool.sweep(10 + idle_ticks - 1);
    CHECK(pool.pool->state().idle == 1);
    pool.sweep(10 + idle_ticks);
    CHECK(server.take_idle(1) == nullptr);
  }
  SECTION("an address that the name has no more") {
    pool.give(pair, server, "192.0.2.9");
    pool.sweep(20);
    CHECK(server.take_idle(1) == nullptr);
  }
  SECTION("a server that is put out") {
    give();
    pool.put_out(0, 10);
    CHECK(server.take_idle(1) == nullptr);
    give();
    CHECK(server.take_idle(1) == nullptr);
  }
  CHECK(pool.pool->state().idle == 0);
}

TEST_CASE("an idle connection on which something happens is closed within a second") {
  World pool({"192.0.2.1"});
  auto& server = pool.server(0);
  std::array<Pair, 3> pairs;
  for (Pair& pair : pairs)
    pool.give(pair, server);
  pairs[0].other->send("!");
  pairs[2].other->close();
  pool.sweep(20);
  CHECK(pool.pool->state().idle == 1);
  CHECK(server.take_idle(1) != nullptr);
  CHECK(server.take_idle(1) == nullptr);
}

TEST_CASE("with reuse: safe only the same client connection gets a connection again") {
  World pool({"192.0.2.1", "192.0.2.2"});
  pool.pool->state().reuse = options::Reuse::safe;
  auto& server = pool.server(0);
  auto& other = pool.server(1);
  std::vector<std::unique_ptr<Pair>> pairs;
  const auto give = [&](PooledServer& to, std::uint64_t client) {
    auto connection = pairs.emplace_back(std::make_unique<Pair>())->connect(pool.io, to);
    connection->endpoint = {asio::ip::make_address("192.0.2.1"), 80};
    const int descriptor = connection->stream.socket().native();
    to.give_back(std::move(connection), 10, client);
    return descriptor;
  };
  const auto take = [&](PooledServer& from, std::uint64_t client) {
    auto connection = from.take_idle(client);
    return connection ? connection->stream.socket().native() : -1;
  };
  const int of_one = give(server, 1);
  const int of_two = give(server, 2);
  const int of_three = give(server, 3);
  CHECK(take(server, 4) == -1);
  CHECK(take(other, 1) == -1);
  CHECK(take(server, 2) == of_two);
  CHECK(take(server, 2) == -1);
  CHECK(take(server, 1) == of_one);
  CHECK(pool.pool->state().idle == 1);

  SECTION("unless something happened on it") {
    pairs[2]->other->send("!");
    CHECK(take(server, 3) == -1);
    CHECK(pool.pool->state().idle == 0);
  }
  SECTION("until it ends") {
    give(other, 3);
    give(other, 5);
    pool.pool->close_idle_of(3);
    CHECK(pool.pool->state().idle == 1);
    CHECK(take(server, 3) == -1);
    CHECK(take(other, 3) == -1);
  }
  SECTION("where they are shared the end of a client connection closes nothing") {
    pool.pool->state().reuse = options::Reuse::always;
    pool.pool->close_idle_of(3);
    CHECK(take(server, 4) == of_three);
  }
}

TEST_CASE("of many idle connections those are taken on which nothing happened") {
  constexpr std::size_t count = 20;
  World pool({"192.0.2.1"});
  auto& server = pool.server(0);
  std::array<Pair, count> pairs;
  for (Pair& pair : pairs)
    pool.give(pair, server);
  pairs[3].other->send("HTTP/1.1 408 Request Timeout\r\n\r\n");
  pairs[17].other->close();

  std::vector<std::unique_ptr<Connection>> taken;
  for (std::size_t i = 0; i < 8; ++i)
    taken.push_back(server.take_idle(1));
  CHECK(std::none_of(taken.begin(), taken.end(), [](const auto& one) { return one == nullptr; }));
  pairs[10].other->close();
  while (auto connection = server.take_idle(1))
    taken.push_back(std::move(connection));
  CHECK(taken.size() == count - 3);
}

TEST_CASE("idle connections give way where descriptors are short") {
  World pool({"127.0.0.1"});
  auto& server = pool.server(0);
  Pair pair;
  const auto give = [&] {
    pool.give(pair, server, "127.0.0.1");
    return pool.pool->state().idle;
  };
  CHECK(give() == 1);
  pool.pool->on_tick(11);
  CHECK(pool.pool->state().idle == 1);
  pool.downstream = 30;
  CHECK(give() == 1);  // not kept
  pool.pool->on_tick(12);
  CHECK(pool.pool->state().idle == 0);

  pool.downstream = 0;
  CHECK(give() == 1);
  pool.downstream = 32;
  error_code ec;
  auto connection = server.make();
  const auto connect = [&]() -> loop::Task<> { ec = co_await server.connect(*connection); };
  loop::spawn(pool.io, connect());
  pool.io.run();
  CHECK(ec == asio::error::no_descriptors);
  CHECK(pool.pool->state().idle == 0);
}

TEST_CASE("a name is looked up again while it is in use") {
  World pool({"localhost"});
  auto& server = pool.server(0);
  Pair pair;
  error_code ec = asio::error::would_block;
  const auto resolve = [&]() -> loop::Task<> {
    ec = co_await server.resolve(10, std::chrono::seconds(10));
  };
  loop::spawn(pool.io, resolve());
  pool.io.run();
  REQUIRE_FALSE(ec);

  const auto kept_after_lookup = [&](const char* address) {
    auto connection = pair.connect(pool.io, server);
    connection->endpoint = {asio::ip::make_address(address), 80};
    server.give_back(std::move(connection), 500, 1);
    pool.sweep(500);  // long after the first lookup
    const bool was_kept = pool.pool->state().idle == 1;
    pool.io.restart();
    const bool looked_up = pool.io.run() > 0;
    pool.sweep(501);
    server.close_idle();
    return std::pair(was_kept, looked_up);
  };
  CHECK(kept_after_lookup("192.0.2.9") == std::pair(false, true));
  CHECK(kept_after_lookup("127.0.0.1") == std::pair(true, false));
  // An unused server is not looked up.
  pool.sweep(1000);
  pool.io.restart();
  CHECK(pool.io.run() == 0);
}

TEST_CASE(
    "servers that a reload does not change keep their connections and what is known of them") {
  World pool({"192.0.2.1", "192.0.2.2"});
  Pair first;
  Pair second;
  pool.give(first, pool.server(0));
  pool.put_out(1, 10);
  pool.sweep(10);
  auto& kept = pool.server(0);
  auto& ejected = pool.server(1);

  SECTION("others come, and they move") {
    pool.settings.servers.insert(pool.settings.servers.begin(), {.url = {}, .host = "192.0.2.3"});
    pool.settings.servers[1].weight = 5;
    pool.settings.retries = 7;
    pool.reload();
    CHECK(&pool.server(1) == &kept);
    CHECK(&pool.server(2) == &ejected);
    CHECK(pool.server(2).availability().is_out(10));
    CHECK(pool.pool->state().idle == 1);
    CHECK(kept.take_idle(1) != nullptr);
    CHECK(pool.removed.empty());
  }
  SECTION("one is removed: requests in progress go on, and give back nothing") {
    auto in_progress = first.connect(pool.io, ejected);
    ejected.answered();
    pool.settings.servers.pop_back();
    pool.reload();
    CHECK(&pool.server(0) == &kept);
    CHECK(pool.removed == "192.0.2.2");
    ejected.give_back(std::move(in_progress), 10, 1);
    CHECK(ejected.take_idle(1) == nullptr);
    CHECK(pool.pool->state().idle == 1);
  }
  SECTION("one that comes back begins again") {
    const auto servers = pool.settings.servers;
    pool.settings.servers.pop_back();
    pool.reload();
    pool.settings.servers = servers;
    pool.reload();
    CHECK(&pool.server(0) == &kept);
    CHECK_FALSE(pool.server(1, 10).availability().is_out(10));
  }
  SECTION("with other certificates nothing goes on") {
    pool.reload(false);
    CHECK(pool.pool->state().idle == 0);
    CHECK(kept.take_idle(1) == nullptr);
  }
  SECTION("with another reuse nothing goes on: a connection may have carried others' requests") {
    pool.settings.reuse = options::Reuse::safe;
    pool.reload();
    CHECK(pool.pool->state().idle == 0);
    CHECK(kept.take_idle(1) == nullptr);
  }
  SECTION("a connection that a removed server's request holds outlives the pools") {
    auto in_progress = first.connect(pool.io, kept);
    pool.settings.servers.erase(pool.settings.servers.begin());
    pool.reload();
    CHECK(kept.active() == 0);
    in_progress.reset();
    pool.before.reset();
  }
}

TEST_CASE("what checks have found goes on with a reload, and ends with the checks") {
  World pool({"192.0.2.1"}, true);
  pool.server(0).checked(false);
  REQUIRE(pool.choose(0) == -1);
  pool.settings.health_check->path = "/other";
  pool.reload();
  CHECK(pool.choose(0) == -1);
  pool.settings.health_check.reset();
  pool.reload();
  CHECK(pool.choose(0) == 0);
}

}  // namespace
}  // namespace weir::upstream
