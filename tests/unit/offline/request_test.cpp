// What a request of an offline instance shows at each stage.
#include "offline/request.hpp"

#include "unit/offline/site.hpp"

namespace weir::offline::test {
namespace {

using limiter::Outcome;
using State = Request::State;

constexpr auto two_routes = R"(
policies:
  smooth: {algorithm: leaky_bucket, rate: 1/1s, queue: 5}
  in_flight: {algorithm: concurrency, limit: 1, queue: 1, max_wait: 5s}
routes:
  - {match: {path: /free}, respond: {status: 200}}
  - {match: {path: /smooth}, respond: {status: 200}, limits: [{policy: smooth}]}
  - {match: {path: /slots}, respond: {status: 200}, limits: [{policy: in_flight}]}
)";

}  // namespace

TEST_CASE("A request that is refused by its head or by its routes has the refusal") {
  Site site(two_routes);
  Request& malformed = site.receive("/free", 0s, 1, "Content-Length: x\r\n");
  CHECK(malformed.state() == State::malformed);
  REQUIRE(malformed.refusal());
  CHECK(malformed.refusal()->status == 400);
  CHECK_FALSE(malformed.is_admitted());
  Request& unrouted = site.receive("/none");
  CHECK(unrouted.state() == State::unrouted);
  CHECK(unrouted.refusal()->status == 404);
  CHECK_FALSE(unrouted.is_admitted());
}

TEST_CASE("A request without limits is admitted, also after a limited one") {
  Site site(two_routes);
  Request& limited = site.receive("/slots", 1s);
  CHECK(limited.is_limited());
  CHECK(limited.holds_units());
  CHECK(limited.is_admitted());
  site.end(limited, 2s);
  Request& free = site.receive("/free", 3s);
  CHECK(&free == &limited);
  CHECK_FALSE(free.is_limited());
  CHECK_FALSE(free.holds_units());
  CHECK(free.is_admitted());
  CHECK(free.verdict().outcome == Outcome::unlimited);
  CHECK(free.arrived_at() == start + 3s);
}

TEST_CASE("A delayed request passes after its delay, and one that waits is not admitted yet") {
  Site site(two_routes);
  site.pass("/smooth");
  Request& delayed = site.receive("/smooth");
  CHECK(delayed.is_admitted());
  CHECK(delayed.decided_at() == start);
  CHECK(delayed.passed_at() == start + 1s);
  site.receive("/slots");
  Request& waiting = site.receive("/slots");
  CHECK(waiting.state() == State::waiting);
  CHECK_FALSE(waiting.is_admitted());
}

}  // namespace weir::offline::test
