// The copy of an exchange while a configuration is in shadow: its request, and how it ended.
#include "proxy/exchange_copy.hpp"

#include "catch.hpp"
#include "unit/proxy/exchanged.hpp"

namespace weir::proxy::test {
namespace {

struct CopiedExchange : Exchanged {
  CopiedExchange() { world.context.traffic_copy = copy; }
  decision::CopiedTraffic taken() const {
    decision::CopiedTraffic traffic;
    copy->take(traffic);
    return traffic;
  }
  std::shared_ptr<decision::TrafficCopy> copy = std::make_shared<decision::TrafficCopy>(1);
};

}  // namespace

TEST_CASE("exchange copy: an admitted request and its end, with its status") {
  CopiedExchange exchanged;
  exchanged.begin("GET /limited");
  auto traffic = exchanged.taken();
  REQUIRE(traffic.events.size() == 1);
  CHECK_FALSE(traffic.events[0].is_end);
  CHECK(traffic.events[0].peer == IpAddress::v4({192, 0, 2, 1}));
  CHECK(traffic.head_of(traffic.events[0]) == exchanged.head);
  exchanged.finish();
  traffic = exchanged.taken();
  REQUIRE(traffic.events.size() == 1);
  CHECK(traffic.events[0].is_end);
  CHECK(traffic.events[0].number == 1);
  CHECK(traffic.events[0].served.has_value());
  CHECK(traffic.events[0].how.status == 200);
  exchanged.exchange.release();
  CHECK(exchanged.taken().events.empty());
}

TEST_CASE("exchange copy: a request that is not admitted has no response") {
  const auto line = GENERATE(as<std::string>(), "GET /none", "GET /strict", "GET /limited");
  CAPTURE(line);
  CopiedExchange exchanged;
  exchanged.ask("GET /limited");
  exchanged.taken();
  exchanged.ask(line);
  const auto traffic = exchanged.taken();
  REQUIRE(traffic.events.size() == 2);
  CHECK(traffic.head_of(traffic.events[0]) == exchanged.head);
  CHECK(traffic.events[1].is_end);
  CHECK_FALSE(traffic.events[1].served.has_value());
}

TEST_CASE("exchange copy: a request that an override decides is skipped") {
  using store::Override;
  const auto kind =
      GENERATE(Override::Kind::numbers, Override::Kind::denied, Override::Kind::unlimited);
  CopiedExchange exchanged;
  exchanged.store.at_once = false;
  exchanged.begin("GET /limited");
  const store::Claim claim = exchanged.store.pending.at(0).acquisition->claims[0];
  exchanged.store.answer(store::test::epoch);
  exchanged.finish();
  exchanged.taken();
  exchanged.store.at_once = true;
  exchanged.store.server.overrides().put(
      claim.identity,
      {.kind = kind, .policy_id = claim.policy_id, .numbers = store::test::gcra(9, 9h)},
      store::test::epoch, [](const auto&) {});
  exchanged.ask("GET /limited");
  CHECK(exchanged.response().status == (kind == Override::Kind::denied ? 403 : 200));
  auto traffic = exchanged.taken();
  CHECK(traffic.skipped == 1);
  CHECK(traffic.events.empty());
  exchanged.ask("GET /fixed");  // the next one has no limit
  traffic = exchanged.taken();
  CHECK(traffic.skipped == 0);
  CHECK(traffic.events.size() == 2);
}

TEST_CASE("exchange copy: a call that an override decides is skipped, also without a limit") {
  decision::TrafficCopy copy(1);
  copy_call(copy, {.method = rls::Method::decide, .message = "{}"});
  copy_call(copy, {.method = rls::Method::decide, .message = "{}", .is_overridden = true});
  decision::CopiedTraffic traffic;
  copy.take(traffic);
  CHECK(traffic.events.size() == 1);
  CHECK(traffic.skipped == 1);
}

TEST_CASE("exchange copy: nothing is copied before the shadow begins or after it has ended") {
  CopiedExchange exchanged;
  exchanged.world.context.traffic_copy.reset();
  exchanged.begin("GET /limited");
  exchanged.world.context.traffic_copy = exchanged.copy;
  exchanged.finish();
  CHECK(exchanged.taken().events.empty());
  exchanged.begin("GET /limited");
  exchanged.world.context.traffic_copy.reset();
  exchanged.finish();
  CHECK(exchanged.taken().events.size() == 1);
}

TEST_CASE("exchange copy: a head that is not acceptable is not copied") {
  CopiedExchange exchanged;
  exchanged.ask("TRACE /fixed");
  CHECK(exchanged.taken().events.empty());
}

}  // namespace weir::proxy::test
