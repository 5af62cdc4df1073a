// Requests that another proxy serves: the decision has the id of a hold, and a report settles it.
#include "catch.hpp"
#include "unit/proxy/exchanged.hpp"

namespace weir::proxy::test {
namespace {

const limiter::Charge failures{.by_status = limiter::ChargeByStatus{.statuses = {{401, 401}}}};

usage::UsagePlan plan_of(const char* field) {
  return *usage::UsagePlan::compile(std::vector<usage::UsageSource>{{.field = field}});
}

/// /limited decides for another proxy and charges failures; /query charges the field X-Cost.
struct Deciding : Exchanged {
  Deciding()
      : Exchanged([](Configuration& settings) {
          for (const RouteIndex index : {limited, query, fixed}) {
            settings.proxy.routes[index].decide = true;
            settings.proxy.routes[index].needs = options::needs_settlements;
          }
          settings.proxy.routes[limited].limits[0].charge = failures;
          settings.proxy.routes[query].limits[0].charge =
              limiter::Charge{.cost_from = plan_of("x-cost")};
          settings.limiter.policies[settings.proxy.routes[query].limits[0].policy].numbers =
              store::test::gcra(100);
          settings.proxy.routes[query].limits[0].cost = 10;
          settings.proxy.routes[query].limits[0].identity = by_address;
        }) {}

  /// The fields of a report about the hold that the last answer has.
  std::string report(const std::string& status, const std::string& fields = "") const {
    const std::string& head = response().fields;
    const std::size_t at = head.find("Weir-Hold: ");
    REQUIRE(at != std::string::npos);
    return head.substr(at, std::string_view("Weir-Hold: ").size() + 32) +
           "\r\nWeir-Status: " + status + "\r\n" + fields;
  }
  void settled(std::int64_t actual) {
    REQUIRE(store.settled.size() == 1);
    CHECK(store.settled[0].actual == actual);
  }
};

}  // namespace

TEST_CASE("A decision that holds units has an id, and a report settles it once") {
  Deciding proxy;
  const auto [status, actual] =
      GENERATE(table<std::string, std::int64_t>({{"401", 1}, {"200", 0}, {"499", 1}}));
  CAPTURE(status);
  const std::string first = proxy.ask("GET /limited");
  CHECK(proxy.response().status == 200);
  CHECK(holds(first, R"("decision":"allowed")"));
  CHECK(holds(first, R"("cost":0,"reserved":1,"settled_by":null)"));
  CHECK(proxy.store.settle_calls == 0);

  const std::string report = proxy.report(status);
  const std::string line = proxy.ask("GET /limited", report);
  CHECK(proxy.response().status == 204);
  proxy.settled(actual);
  CHECK(holds(line, R"("decision":"settled","policy":"one")"));
  CHECK(holds(line, status == "499" ? R"("settled_by":"aborted")" : R"("settled_by":"status")"));
  CHECK(holds(line, R"("reserved":1)"));

  CHECK(holds(proxy.ask("GET /limited", report), R"("decision":null)"));
  CHECK(proxy.response().status == 404);
  proxy.settled(actual);
  CHECK(proxy.store.questions == 1);
}

TEST_CASE("A report has the fields of the response that state the cost") {
  Deciding proxy;
  proxy.ask("GET /query");
  SECTION("the field is there") {
    proxy.ask("GET /fixed", proxy.report("200", "X-Cost: 37\r\n"));
    proxy.settled(37);
  }
  SECTION("it is missing: the cost is what was held") {
    proxy.ask("GET /query", proxy.report("200"));
    proxy.settled(10);
  }
}

TEST_CASE("A decision without units to hold has no id") {
  Deciding proxy;
  proxy.ask("GET /fixed");
  CHECK_FALSE(holds(proxy.response().fields, "Weir-Hold"));
  proxy.ask("GET /limited");
  proxy.ask("GET /limited");
  CHECK(proxy.response().status == 429);
  CHECK_FALSE(holds(proxy.response().fields, "Weir-Hold"));
}

TEST_CASE("A report that cannot be read is refused and settles nothing") {
  Deciding proxy;
  proxy.ask("GET /limited");
  const std::string report = proxy.report("200");
  for (const std::string& fields : {std::string("Weir-Hold: 1\r\nWeir-Status: 200\r\n"),
                                    report.substr(0, report.find("\r\n") + 2), proxy.report("1")}) {
    proxy.ask("GET /limited", fields);
    CHECK(proxy.response().status == 400);
  }
  // Another route is forwarded as it is.
  proxy.begin("GET /up", report);
  proxy.world.run_until([&] { return proxy.upstream.accept() != nullptr; });
  CHECK(proxy.store.settle_calls == 0);
  CHECK(proxy.store.questions == 1);
}

TEST_CASE("A hold that is not settled ends by its lease") {
  Deciding proxy;
  proxy.ask("GET /limited");
  const std::string report = proxy.report("200");
  proxy.world.hold_directory.end_leases(proxy.world.clock.now() + 1min);
  proxy.world.poll();
  proxy.settled(1);
  proxy.ask("GET /limited", report);
  CHECK(proxy.response().status == 404);
}

TEST_CASE("A request without limits does not read the response for the limits of another") {
  Exchanged proxy([](Configuration& settings) {
    settings.proxy.routes[limited].limits[0].charge =
        limiter::Charge{.cost_from = *usage::UsagePlan::compile(std::vector<usage::UsageSource>{
                            {.pointers = {*usage::JsonPointer::parse("/usage")}}})};
  });
  proxy.ask("GET /limited");
  proxy.begin("GET /up");
  auto server = proxy.upstream.accept();
  proxy.world.run_until([&] {
    if (!server) server = proxy.upstream.accept();
    return server != nullptr;
  });
  std::string received;
  proxy.world.run_until([&] { return holds(received += server->receive(), "\r\n\r\n"); });
  CHECK_FALSE(holds(received, "ccept-Encoding"));
}

}  // namespace weir::proxy::test
