// The end of the connection while requests wait for units.
#include <deque>

#include "catch.hpp"
#include "unit/store/leases_fixture.hpp"

namespace weir::store {
namespace {

using namespace test;

TEST_CASE("requests that wait when the connection ends are each completed once") {
  LeasesFixture fixture;
  for (std::uint32_t i = 1; i < Lease::hot_requests; ++i)
    fixture.admit({fixture.leased()}, 0s);
  std::deque<Request> requests;
  for (int i = 0; i < 30; ++i)
    requests.emplace_back(std::vector{fixture.leased()}).come(fixture.front(), 0s);
  REQUIRE(fixture.remote.pending.size() == 1);
  fixture.remote.ready = false;
  fixture.remote.answer(epoch, Error::connection_lost);
  CHECK(fixture.remote.pending.empty());
  for (const Request& request : requests) {
    CHECK(request.times == 1);
    CHECK(request.decider() == Decider::local);
  }
  CHECK(fixture.units->value() == 0);
  CHECK_FALSE(fixture.chain().leases().is_asking());
}

}  // namespace
}  // namespace weir::store
