// Calls of gRPC whose deadline has passed, whose client has left, or both: a client that has left
// is logged as such, because it gets no status, also if it is late.
#include "catch.hpp"
#include "unit/limiter/request_fixture.hpp"
#include "unit/proxy/exchanged.hpp"

namespace weir::proxy::test {
namespace {

const std::string never = "grpc-timeout: 1H\r\n";
const std::string late = "grpc-timeout: 1n\r\n";

/// /limited has one slot and a queue; /up charges what is not refused by a status of gRPC.
struct Calls : Exchanged {
  Calls()
      : Exchanged([](Configuration& settings) {
          rules::Definition one_slot;
          one_slot.algorithm = rules::Algorithm::concurrency;
          one_slot.limit = 1;
          auto& slots = settings.limiter.policies[settings.proxy.routes[limited].limits[0].policy];
          slots.numbers = rules::compile(one_slot).value();
          slots.queue = 10;
          slots.max_wait = 1h;
          limit(settings, settings.proxy.routes[up], "outcome", by_address);
          settings.proxy.routes[up].limits[0].charge =
              limiter::Charge{.by_grpc_status = limiter::ChargeByStatus{.statuses = {{16, 16}}}};
        }) {
    is_call = true;
  }
  /// The first request of the route takes what a second one waits for: the store does not get the
  /// slot back.
  void take_turn(const std::string& path) { ask("POST " + path, never); }
  void expect_gone(const std::string& line) {
    CHECK_FALSE(client.responder.has_begun());
    CHECK(holds(line, R"("status":499,"aborted_by":"client")"));
    CHECK(holds(line, R"("grpc_status":null)"));
    CHECK(holds(line, R"("upstream_error":null)"));
  }
  void expect_late(const std::string& line) {
    CHECK(response().is_weirs_own);
    CHECK(holds(line, R"("status":200,"aborted_by":null)"));
    CHECK(holds(line, R"("grpc_status":4)"));
  }
};

}  // namespace

TEST_CASE("A call that waited is logged as late, or as that of a client that has left") {
  Calls calls;
  const std::string path = GENERATE("/limited", "/leaky");  // a slot, a turn
  calls.take_turn(path);
  SECTION("its deadline passes") {
    calls.expect_late(calls.ask("POST " + path, late));
  }
  SECTION("its client leaves") {
    calls.begin("POST " + path, never);
    CHECK_FALSE(calls.has_ended);
    calls.client.watchdog.client_left();
    calls.expect_gone(calls.finish());
  }
  SECTION("its client has left when its deadline passes") {
    calls.client.watchdog.client_left();
    calls.expect_gone(calls.ask("POST " + path, late));
  }
}

TEST_CASE("A forwarded call that nobody waits for is charged, and logged as its client ended it") {
  Calls calls;
  SECTION("its client has left") {
    calls.begin("POST /up", never);
    calls.world.run_until([&] { return calls.client.watchdog.phase() == Phase::response; });
    calls.client.watchdog.client_left();
    const std::string line = calls.finish();
    calls.expect_gone(line);
    CHECK(holds(line, R"("settled_by":"aborted")"));
  }
  SECTION("its client has left when its deadline passes") {
    calls.begin("POST /up", "grpc-timeout: 100m\r\n");
    calls.world.run_until([&] { return calls.client.watchdog.phase() == Phase::response; });
    calls.client.watchdog.client_left();
    calls.client.watchdog.on_deadline();
    const std::string line = calls.finish();
    calls.expect_gone(line);
    CHECK(holds(line, R"("cost":1,"reserved":1,"settled_by":"aborted")"));
  }
  SECTION("its deadline has passed") {
    calls.begin("POST /up", "grpc-timeout: 100m\r\n");
    calls.world.run_until([&] { return calls.client.watchdog.phase() == Phase::response; });
    calls.client.watchdog.on_deadline();
    const std::string line = calls.finish();
    calls.expect_late(line);
    CHECK(holds(line, R"("cost":1,"reserved":1,"settled_by":"aborted")"));
  }
}

}  // namespace weir::proxy::test
