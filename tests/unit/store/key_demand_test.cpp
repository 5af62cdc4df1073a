#include "store/key_demand.hpp"

#include "catch.hpp"
#include "contract/store_under_test.hpp"
#include "rules/span.hpp"

namespace weir::store {
namespace {

using namespace test;

constexpr Duration period = 200ms;

void request(KeyDemand& demand, int count, Instant now, std::int64_t cost = 1) {
  for (int i = 0; i < count; ++i) {
    demand.note_request(now, period);
    demand.note(cost, now);
  }
}

TEST_CASE("a key is hot from eight requests in a period, and until the end of the next one") {
  KeyDemand demand;
  request(demand, KeyDemand::hot_requests - 1, epoch);
  CHECK_FALSE(demand.is_hot());
  request(demand, 1, epoch);
  CHECK(demand.is_hot());
  request(demand, 1, epoch + period);
  CHECK(demand.is_hot());
  request(demand, 1, epoch + 2 * period);
  CHECK_FALSE(demand.is_hot());
}

TEST_CASE(
    "the units are those of the larger one of two periods, at least one for each request of a hot "
    "key") {
  KeyDemand demand;
  CHECK(demand.units() == KeyDemand::hot_requests);
  request(demand, 10, epoch, 3);
  CHECK(demand.units() == 30);
  request(demand, 5, epoch + period, 3);
  CHECK(demand.units() == 30);
  request(demand, 10, epoch + period, 3);
  CHECK(demand.units() == 45);
  request(demand, 3, epoch + 3 * period, 3);
  CHECK(demand.units() == 9);
  demand.note(rules::exact_limit, epoch + 3 * period);
  CHECK(demand.units() == rules::exact_limit);
}

TEST_CASE("a request without a noted cost is no demand") {
  KeyDemand demand;
  demand.note_request(epoch + 1s, period);
  CHECK(demand.last_request() == epoch + 1s);
  CHECK(demand.last_noted() == Instant{});
  demand.note(2, epoch + 2s);
  CHECK(demand.last_request() == epoch + 1s);
  CHECK(demand.last_noted() == epoch + 2s);
}

}  // namespace
}  // namespace weir::store
