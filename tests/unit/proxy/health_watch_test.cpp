#include "proxy/health_watch.hpp"

#include <memory>
#include <optional>
#include <string>

#include "catch.hpp"
#include "unit/proxy/scripted_client.hpp"
#include "unit/proxy/world.hpp"
#include "unit/store/fake_store.hpp"

namespace weir::proxy::test {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;

constexpr std::string_view serving = "\0\0\0\0\2\x08\1"sv;
constexpr std::string_view not_serving = "\0\0\0\0\2\x08\2"sv;
constexpr std::string_view unknown = "\0\0\0\0\2\x08\3"sv;

struct Watching {
  Watching() { next(); }
  ~Watching() {
    watch.cancel();
    world.poll();
  }

  void next() {
    result.reset();
    loop::spawn(world.io, note_result(watch.next(), result));
    world.poll();
  }
  std::string sent() const { return client.responder.received.body; }

  store::test::FakeStore store;
  World world{Configuration{}, store};
  ScriptedClient client{world.io, world.context.wheel};
  HealthWatch watch{world.context, client.side, ""};
  std::optional<bool> result;
};

TEST_CASE("A watch sends the status once, and waits without a deadline") {
  Watching watching;
  CHECK(watching.sent() == serving);
  CHECK(watching.client.responder.received.status == 200);
  watching.world.tick(1h);
  CHECK_FALSE(watching.result);
  CHECK(watching.sent() == serving);
}

TEST_CASE("A watch returns after a reload, and sends nothing while the status is the same") {
  Watching watching;
  watching.world.context.use(watching.world.next_generation(watching.store));
  watching.world.poll();
  REQUIRE(watching.result == true);
  watching.next();
  CHECK_FALSE(watching.result);
  CHECK(watching.sent() == serving);
}

TEST_CASE("A watch ends with NOT_SERVING when the process begins to stop") {
  Watching watching;
  watching.world.context.drain();
  watching.world.poll();
  REQUIRE(watching.result == true);
  watching.next();
  CHECK(watching.result == false);
  CHECK(watching.sent() == std::string(serving).append(not_serving));
  CHECK(watching.client.responder.received.trailers == "grpc-status: 14\r\n");
  CHECK(watching.client.responder.received.is_whole);
}

TEST_CASE("A watch of an unknown service waits, too") {
  Watching watching;
  ScriptedClient client{watching.world.io, watching.world.context.wheel};
  HealthWatch watch{watching.world.context, client.side, "other"};
  std::optional<bool> result;
  loop::spawn(watching.world.io, note_result(watch.next(), result));
  watching.world.poll();
  CHECK_FALSE(result);
  CHECK(client.responder.received.body == unknown);
  watch.cancel();
  watching.world.poll();
}

TEST_CASE("A watch ends when its client leaves") {
  Watching watching;
  watching.client.watchdog.client_left();
  watching.world.poll();
  REQUIRE(watching.result == true);
  watching.next();
  CHECK(watching.result == false);
  CHECK(watching.client.responder.resets == 1);
}

TEST_CASE("A watch whose status cannot be sent ends") {
  Watching watching;
  watching.client.responder.fails = true;
  watching.world.context.drain();
  watching.world.poll();
  watching.next();
  CHECK(watching.result == false);
}

TEST_CASE("A watch that has ended is not woken") {
  Watching watching;
  auto other = std::make_unique<HealthWatch>(watching.world.context, watching.client.side, "");
  CHECK(watching.world.context.health_watches.size() == 2);
  other.reset();
  CHECK(watching.world.context.health_watches.size() == 1);
}

}  // namespace
}  // namespace weir::proxy::test
