#include "app/override_log.hpp"

#include "catch.hpp"

using namespace weir;
using namespace weir::app;
using namespace std::literals;

TEST_CASE("Overrides that cannot be read are logged once a minute") {
  OverrideLog log;
  const Instant now = instant_from_us(1'700'000'000'000'000);
  const auto first = log.malformed("per_user", {.low = 0xabc}, now);
  REQUIRE(first.has_value());
  CHECK(first->find("policy per_user for hash:00000000000000000000000000000abc") !=
        std::string::npos);
  CHECK_FALSE(log.malformed("other", {.low = 1}, now + 59s).has_value());
  CHECK(log.malformed("other", {.low = 1}, now + 60s).has_value());
}
