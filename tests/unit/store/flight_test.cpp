#include "store/flight.hpp"

#include <vector>

#include "store/single_flight.hpp"
#include "unit/store/chain_fixture.hpp"

namespace weir::store::test {
namespace {

struct FlightFixture {
  FakeStore remote;
  ChainCounters counters;
  DenialMemory memory{1, 1};
  KnownDenials known{memory, counters};
  CircuitBreaker breaker{remote, {.timeout = 1s, .failures = 1, .retry_after = 1s}, counters};
  SingleFlight link{remote, {.memory = memory, .known = known, .breaker = breaker, .timeout = 1s}};
  Flight asking{link};
  Flight first{link};
  Flight second{link};
};

using Ring = std::vector<const Flight*>;

/// The flights of a ring in order, which is the same in both directions.
Ring ring_of(const Flight& start) {
  Ring found{&start};
  for (const Flight* flight = start.next(); flight != &start; flight = flight->next()) {
    REQUIRE(flight->previous() == found.back());
    found.push_back(flight);
  }
  REQUIRE(start.previous() == found.back());
  return found;
}

}  // namespace

TEST_CASE("Flights that wait form a ring in order of arrival") {
  FlightFixture fixture;
  auto& [remote, counters, memory, known, breaker, link, asking, first, second] = fixture;
  CHECK_FALSE(asking.is_linked());
  first.link_before(asking);
  second.link_before(asking);
  CHECK(ring_of(asking) == Ring{&asking, &first, &second});
  CHECK(asking.is_linked());
  CHECK(second.is_linked());
}

TEST_CASE("A flight that is unlinked leaves the others in order") {
  FlightFixture fixture;
  auto& [remote, counters, memory, known, breaker, link, asking, first, second] = fixture;
  first.link_before(asking);
  second.link_before(asking);
  first.unlink();
  CHECK_FALSE(first.is_linked());
  CHECK(ring_of(first) == Ring{&first});
  CHECK(ring_of(asking) == Ring{&asking, &second});
  asking.unlink();
  CHECK_FALSE(asking.is_linked());
  CHECK_FALSE(second.is_linked());
  asking.unlink();  // again changes nothing
  CHECK(ring_of(asking) == Ring{&asking});
}

}  // namespace weir::store::test
