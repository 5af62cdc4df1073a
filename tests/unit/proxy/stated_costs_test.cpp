// The body of a request that is read before the decision, for reserves with a JSON pointer.
#include "proxy/stated_costs.hpp"

#include "catch.hpp"
#include "decision/request_routes.hpp"
#include "unit/proxy/forward_phase.hpp"

namespace weir::proxy::test {
namespace {

using namespace std::chrono_literals;

/// A limit without a reserve, and one whose units are in the body.
void reserve_from_body(Configuration& settings) {
  const usage::UsageSource source{.pointers = {*usage::JsonPointer::parse("/max_tokens")}};
  limiter::Limit limit;
  limit.charge = limiter::Charge{
      .reserve = limiter::Reserve{.in_body = *usage::UsagePlan::compile({&source, 1})}};
  settings.proxy.routes[0].limits = {limiter::Limit{}, limit};
  settings.proxy.routes[0].needs = options::needs_body;
}

class Stating : public ForwardTest {
 public:
  explicit Stating(const std::string& fields)
      : ForwardTest(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n" + fields + "\r\n", 1,
            reserve_from_body) {
    REQUIRE_FALSE(routes.find(*phase.generation.request_rules, request));
    REQUIRE(routes.needs() == options::needs_body);
  }
  /// Reads what has arrived.
  std::optional<Failure> read() {
    loop::spawn(world.io,
                note_result(costs.read(request, client.side, 60s, routes.gathered()), result));
    world.poll();
    return result;
  }
  std::optional<std::int64_t> stated() const {
    const auto all = routes.evidence()[0].stated;
    if (all.empty()) return std::nullopt;
    CHECK_FALSE(all[0]);
    return all[1];
  }

  decision::RequestRoutes routes;
  StatedCosts costs;
  std::optional<Failure> result;
};

const std::string chunked = "Transfer-Encoding: chunked\r\n";

}  // namespace

TEST_CASE("the body states what to reserve, and can be read again") {
  Stating stating(chunked);
  stating.client.body.arrive(R"({"max_to)");
  stating.client.body.arrive(R"(kens": 70})");
  stating.client.body.end();
  CHECK(stating.read() == Failure::none);
  CHECK(stating.stated() == 70);
  CHECK(stating.costs.was_read());
  CHECK(stating.client.body.keeps == decision::largest_stating_body);
  stating.client.body.rewind();
  std::string_view piece;
  CHECK(stating.client.body.pull(piece) == BodyState::payload);
  CHECK(piece == R"({"max_to)");
}

TEST_CASE("the decision waits for the end of the body") {
  Stating stating(chunked);
  stating.client.body.arrive(R"({"max_tokens": 70)");
  CHECK_FALSE(stating.read());
  stating.client.body.arrive("}");
  stating.client.body.end();
  stating.world.poll();
  CHECK(stating.result == Failure::none);
  CHECK(stating.stated() == 70);
}

TEST_CASE("a body that is too large or is no JSON states nothing") {
  SECTION("its length is too large: it is not read") {
    Stating stating("Content-Length: 65537\r\n");
    CHECK(stating.read() == Failure::none);
    CHECK_FALSE(stating.costs.was_read());
    CHECK_FALSE(stating.stated());
  }
  SECTION("a chunked one is read up to the bound") {
    Stating stating(chunked);
    stating.client.body.arrive(R"({"max_tokens": 70,)");
    CHECK_FALSE(stating.read());
    stating.client.body.arrive(std::string(decision::largest_stating_body, ' '));
    stating.world.poll();
    CHECK(stating.result == Failure::none);
    CHECK_FALSE(stating.stated());
  }
  SECTION("malformed JSON") {
    Stating stating(chunked);
    stating.client.body.arrive(R"({"max_tokens": 70)");
    stating.client.body.end();
    CHECK(stating.read() == Failure::none);
    CHECK_FALSE(stating.stated());
  }
  SECTION("a content coding") {
    Stating stating(chunked + "Content-Encoding: gzip\r\n");
    stating.client.body.arrive(R"({"max_tokens": 70})");
    stating.client.body.end();
    CHECK(stating.read() == Failure::none);
    CHECK_FALSE(stating.stated());
  }
}

TEST_CASE("a client that waits for 100 Continue gets it before the decision") {
  Stating stating(chunked + "Expect: 100-continue\r\n");
  CHECK_FALSE(stating.read());
  CHECK(stating.client.responder.interims == std::vector<int>{100});
  stating.client.body.arrive(R"({"max_tokens": 70})");
  stating.client.body.end();
  stating.world.poll();
  CHECK(stating.stated() == 70);
}

TEST_CASE("a body that ends badly before the decision is the client's fault") {
  Stating stating(chunked);
  SECTION("malformed framing") {
    stating.client.body.be_malformed();
    CHECK(stating.read() == Failure::body_malformed);
  }
  SECTION("the client leaves") {
    stating.client.body.arrive("{");
    CHECK_FALSE(stating.read());
    stating.client.body.break_off();
    stating.world.poll();
    CHECK(stating.result == Failure::downstream_gone);
  }
  CHECK_FALSE(stating.stated());
}

}  // namespace weir::proxy::test
