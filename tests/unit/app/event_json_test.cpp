#include "app/event_json.hpp"

#include "catch.hpp"

namespace weir::app {

using namespace std::chrono_literals;

TEST_CASE("the body for a webhook has the numbers of the event, and the hash of its key") {
  limiter::QuotaEvent event{
      .key = {.identity = {.low = 0x0123456789abcdef, .high = 0xfedcba9876543210}, .policy_id = 3},
      .percent = 80,
      .used = 8,
      .limit = 10,
      .whole_after = 42s,
      .at = instant_from_us(1'764'547'200'000'000)};
  const EventNames names{
      .id = "0193", .instance = "weir-1:7", .policy = "per \"user\"", .identity = "api_key"};
  CHECK(event_json(event, names, 1s) ==
        R"({"id":"0193","time":"2025-12-01T00:00:01Z","instance":"weir-1:7",)"
        R"("policy":"per \"user\"","at":80,"identity":"api_key",)"
        R"("key":"fedcba98765432100123456789abcdef","used":8,"quota":10,)"
        R"("reset_at":"2025-12-01T00:00:43Z"})");
  event.counts_slots = true;
  CHECK(event_json(event, names, 1s).find("reset_at") == std::string::npos);
}

}  // namespace weir::app
