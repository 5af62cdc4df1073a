#include "admin/store_health.hpp"

#include "catch.hpp"

namespace weir::admin {
namespace {

using Change = StoreHealth::Change;
const StoreStatus good{.connected = true, .deciding = true};
const StoreStatus silent{.connected = true, .last_error = "silent"};
const StoreStatus gone{.last_error = "gone"};

}  // namespace

TEST_CASE("The first worker to lose the store and the last to get it back are a change") {
  StoreHealth health(2);
  CHECK(health.report(0, good) == Change::none);
  CHECK(health.report(1, good) == Change::none);
  CHECK(health.last_error().empty());
  CHECK(health.report(1, silent) == Change::lost);
  CHECK(health.last_error() == "silent");
  CHECK_FALSE(health.is_up());  // connected, but to a server that does not decide
  CHECK(health.report(0, gone) == Change::none);
  CHECK(health.last_error() == "gone");
  CHECK_FALSE(health.is_up());
  CHECK(health.report(1, good) == Change::none);
  CHECK(health.report(0, good) == Change::back);
  CHECK(health.last_error().empty());
  CHECK(health.is_up());
}

TEST_CASE("A reason is logged if it is another one, at most once a minute, and only a few are") {
  StoreHealth health(1);
  const Instant start{};
  CHECK(health.report(0, gone) == Change::lost);
  CHECK(health.may_log_reason("gone", start));
  CHECK_FALSE(health.may_log_reason("gone", start + std::chrono::hours(1)));
  CHECK(health.may_log_reason("WRONGPASS", start));
  CHECK_FALSE(health.may_log_reason("gone", start + std::chrono::seconds(59)));
  CHECK(health.may_log_reason("gone", start + std::chrono::seconds(60)));
  CHECK_FALSE(health.may_log_reason("gone", start + std::chrono::hours(1)));
  int logged = 0;
  for (int i = 0; i < 100; ++i)
    logged += health.may_log_reason("port " + std::to_string(i), start) ? 1 : 0;
  CHECK(logged == 6);
  CHECK(health.report(0, good) == Change::back);
  CHECK(health.may_log_reason("gone", start));
}

TEST_CASE("Each kind of error is logged once a minute") {
  using store::Error;
  const Instant start = instant_from_us(1'000'000);
  StoreHealth health(2);
  CHECK(health.may_log(Error::out_of_memory, start));
  CHECK_FALSE(health.may_log(Error::out_of_memory, start));
  CHECK(health.may_log(Error::refused, start + std::chrono::seconds(1)));
  CHECK_FALSE(health.may_log(Error::out_of_memory, start + std::chrono::milliseconds(59'999)));
  CHECK(health.may_log(Error::out_of_memory, start + std::chrono::seconds(60)));
  CHECK_FALSE(health.may_log(Error::refused, start + std::chrono::seconds(60)));
}

TEST_CASE("A store that cannot be reached at the start is lost, one that was never used is not") {
  StoreHealth health(1);
  CHECK_FALSE(health.is_up());
  CHECK(health.last_error().empty());
  CHECK(health.report(0, gone) == Change::lost);
  CHECK(health.report(0, good) == Change::back);
}

}  // namespace weir::admin
