#include "app/event_log.hpp"

#include "catch.hpp"

namespace weir::app {

TEST_CASE("the line about an event shows the hash of its key, and rounds its time up") {
  const limiter::QuotaEvent event{
      .key = {.identity = {.low = 0x0123456789abcdef, .high = 0xfedcba9876543210}, .policy_id = 3},
      .percent = 80,
      .used = 8,
      .limit = 10,
      .whole_after = Duration{1'000'001},
      .at = {}};
  CHECK(line_of(event, "per_user") ==
        LogLine{LogLine::Level::info,
                "policy per_user: key fedcba98765432100123456789abcdef has reached 80 % of its "
                "quota: 8 of 10 units are used; whole again in 2 s"});
}

}  // namespace weir::app
