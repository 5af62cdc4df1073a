#include "admin/store_health.hpp"

#include "catch.hpp"

namespace weir::admin {
namespace {

using Change = StoreHealth::Change;
const StoreSight good{.connected = true, .deciding = true};
const StoreSight silent{.connected = true, .trouble = "silent"};
const StoreSight gone{.trouble = "gone"};

}  // namespace

TEST_CASE("The first worker to lose the store and the last to have it back make the change") {
  StoreHealth health(2);
  CHECK(health.tell(0, good) == Change::none);
  CHECK(health.tell(1, good) == Change::none);
  CHECK(health.trouble().empty());
  CHECK(health.tell(1, silent) == Change::lost);
  CHECK(health.trouble() == "silent");
  CHECK(health.is_connected());
  CHECK(health.tell(0, gone) == Change::none);
  CHECK(health.trouble() == "gone");
  CHECK_FALSE(health.is_connected());
  CHECK(health.tell(1, good) == Change::none);
  CHECK(health.tell(0, good) == Change::back);
  CHECK(health.trouble().empty());
}

TEST_CASE("Each kind of error is logged once a minute") {
  using redis::StoreError;
  const Instant start = instant_from_us(1'000'000);
  StoreHealth health(2);
  CHECK(health.is_news(StoreError::out_of_memory, start));
  CHECK_FALSE(health.is_news(StoreError::out_of_memory, start));
  CHECK(health.is_news(StoreError::refused, start + std::chrono::seconds(1)));
  CHECK_FALSE(health.is_news(StoreError::out_of_memory, start + std::chrono::milliseconds(59'999)));
  CHECK(health.is_news(StoreError::out_of_memory, start + std::chrono::seconds(60)));
  CHECK_FALSE(health.is_news(StoreError::refused, start + std::chrono::seconds(60)));
}

TEST_CASE("A store that is unreachable at the start is lost, one that was never used is not") {
  StoreHealth health(1);
  CHECK_FALSE(health.is_connected());
  CHECK(health.trouble().empty());
  CHECK(health.tell(0, gone) == Change::lost);
  CHECK(health.tell(0, good) == Change::back);
}

}  // namespace weir::admin
